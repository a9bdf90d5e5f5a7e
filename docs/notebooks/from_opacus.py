# %% [markdown]
# # From Opacus
# The same training loop with Opacus' `PrivacyEngine` and with `make_private`, what differs, and our accountant inside of Opacus.

# %%
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from sfumato.torch import Shape, compare_with_opacus, make_private, register_with_opacus

torch.manual_seed(0)
torch.set_num_threads(1)
targets = torch.arange(2000) % 2
inputs = torch.randn(2000, 1, 1, 1) + 0.5 * torch.randn(2000, 1, 8, 8)  # bright or dark as a whole; the upper half tells the class
inputs[:, :, :4] += (0.6 * targets - 0.3).reshape(-1, 1, 1, 1)


def network():
    torch.manual_seed(1)
    return nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.Tanh(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(128, 2))


def parts():
    model = network()
    return model, torch.optim.SGD(model.parameters(), lr=0.5), DataLoader(TensorDataset(inputs, targets), batch_size=100, shuffle=True)


def train(model, optimizer, loader, epochs=4):
    for _ in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
    model.eval()
    with torch.no_grad():
        return float((model(inputs).argmax(dim=1) == targets).float().mean())


# %% [markdown]
# With Opacus the model is wrapped and each record has its gradients (or the criterion is wrapped too, for `ghost`):

# %%
try:
    from opacus import PrivacyEngine
except ImportError:
    PrivacyEngine = None
if PrivacyEngine is not None:
    register_with_opacus()  # accountant="sfumato": proven upper bounds in the place of estimates
    engine = PrivacyEngine(accountant="sfumato")
    model, optimizer, loader = parts()
    model, optimizer, batches = engine.make_private_with_epsilon(module=model, optimizer=optimizer, data_loader=loader, target_epsilon=3, target_delta=1e-4,
                                                                 epochs=4, max_grad_norm=1.0)
    print("Opacus: accuracy", train(model, optimizer, batches), "epsilon", engine.get_epsilon(1e-4))
    print(compare_with_opacus(engine, 1e-4, batches))

# %% [markdown]
# With `make_private` the model stays the one it was, and the loop too. `max_grad_norm` and `target_epsilon` mean the same. What else there was:
#
# | Opacus | here |
# | --- | --- |
# | `BatchMemoryManager(max_physical_batch_size=64)` | `make_private(..., max_physical_batch_size=64)` |
# | `poisson_sampling=False` | `sampler="allocate"`: every record once in an epoch, and accounted for as that |
# | `grad_sample_mode="ghost"`, `DPLossFastGradientClipping` | always so, with the criterion as it is |
# | `loss_reduction="sum"` | the same |
# | `engine.get_epsilon(delta)` | `optimizer.epsilon()`, `optimizer.guarantee()` |
# | `engine.save_checkpoint` | `optimizer.state_dict()` has the account; `account=FILE` keeps it on disk |
# | `model._module.state_dict()` | `model.state_dict()` |
# | add or remove one record | `zero_out`: one record replaced by nothing, the same epsilon; the number of records is public |

# %%
model, optimizer, loader = make_private(*parts(), target_epsilon=3, target_delta=1e-4, epochs=4, max_grad_norm=1.0)
accuracy = train(model, optimizer, loader)
print("isotropic: accuracy", accuracy)
print(optimizer.guarantee())
assert optimizer.epsilon().value <= 3

# %% [markdown]
# Shaped noise: what layers read is whitened by second moments, here those of 1/f noise, which cost nothing. By default they are released privately,
# for 15 % of the squared mu of the target.

# %%
for shape in (Shape(), Shape(read="pink")):
    model, optimizer, loader = make_private(*parts(), target_epsilon=3, target_delta=1e-4, epochs=4, max_grad_norm=1.0, noise="shaped", shape=shape)
    print(shape.read, "accuracy", train(model, optimizer, loader), "releases", len(optimizer.guarantee().releases))
    assert optimizer.epsilon().value <= 3
