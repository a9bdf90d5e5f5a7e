# %% [markdown]
# # A private training
# A logistic regression in PyTorch with differential privacy: the noise for a target, the training, the guarantee.

# %%
import torch

import sfumato
from sfumato.torch import PrivateOptimizer

torch.manual_seed(0)
torch.set_num_threads(1)
inputs = torch.randn(2000, 10)
targets = (inputs @ torch.linspace(-1, 1, 10) + 0.3 * torch.randn(2000) > 0).long()

# %% [markdown]
# The noise for epsilon = 2 at delta = 1e-5, in 150 steps of expected 200 records:

# %%
sample_rate, steps = 0.1, 150
sigma = sfumato.noise_multiplier(target_epsilon=2, delta=1e-5, sample_rate=sample_rate, steps=steps)
print(f"noise multiplier {sigma:.4f}")

# %%
model = torch.nn.Linear(10, 2)
optimizer = PrivateOptimizer(torch.optim.SGD(model.parameters(), lr=1.0), model, torch.nn.functional.cross_entropy,
                             noise_multiplier=sigma, max_grad_norm=1.0, sample_rate=sample_rate, records=len(inputs))
for batch in optimizer.batches((inputs, targets), steps):
    optimizer.step(*batch)
accuracy = float((model(inputs).argmax(dim=1) == targets).float().mean())
guarantee = optimizer.guarantee(delta=1e-5)
print(f"accuracy {accuracy:.3f}")
print(guarantee)

# %% [markdown]
# What the guarantee means for an attacker who asks whether a record was there:

# %%
accountant = optimizer.accountant
print("advantage", accountant.advantage())
print("true-positive rate at a false-positive rate of 1 %", accountant.tpr(0.01))
print(accountant.statement(1e-5))

# %%
assert accuracy > 0.85 and guarantee.epsilon.value <= 2 + 1e-9
