# %% [markdown]
# # Auditing your own PyTorch model
# Somebody claims that a training is (1, 1e-5)-private. Train it with and without one record, and look.

# %%
import torch

import sfumato
from sfumato.torch import AnisotropicSGD, audit_training, record_gradient_differences

torch.set_num_threads(1)
generator = torch.Generator().manual_seed(1)
inputs = torch.randn(40, 4, generator=generator)
targets = (inputs @ torch.randn(4, 3, generator=generator)).argmax(dim=1)
loss = torch.nn.functional.cross_entropy


def train(dataset, seed, noise=0.0):
    """Your own training: a small network, some noise on every step."""
    model = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.Tanh(), torch.nn.Linear(16, 3))
    plain = torch.optim.Adam(model.parameters(), lr=0.05)
    optimizer = AnisotropicSGD(plain, model, "isotropic", variance=noise) if noise else plain
    for _ in range(60):
        optimizer.zero_grad()
        loss(model(dataset[0]), dataset[1]).backward()
        optimizer.step()
    return model


# %% [markdown]
# First the plan: how many models does it take, and what can 60 of each world show at most?

# %%
print(audit_training(train, (inputs, targets), claim=(1, 1e-5), runs=60, plan_only=True))

# %%
answer = audit_training(train, (inputs, targets), claim=(1, 1e-5), runs=60)
print(answer)

# %% [markdown]
# The same with much noise. That the claim is not refuted does not prove it: there is no guarantee here.

# %%
noisy = audit_training(lambda data, seed: train(data, seed, noise=0.3), (inputs, targets), claim=(1, 1e-5), runs=60)
print(noisy)

# %% [markdown]
# Where would the noise hide most? The gradients of the records say it, if they may be looked at.

# %%
model = train((inputs, targets), 0)
differences = record_gradient_differences(model, loss, None, (inputs[:10], targets[:10]))
design = sfumato.design(differences, differences_are="public", trace=1.0, floor=1e-6)
print(design)

# %%
assert answer.verdict == "violated" and noisy.verdict != "violated"
