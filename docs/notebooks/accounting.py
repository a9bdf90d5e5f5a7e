# %% [markdown]
# # Accounting and calibrating
# What does DP-SGD guarantee, how much noise does a target take, and what do others say about the same run?

# %%
from typing import Any

import sfumato

run: dict[str, Any] = dict(noise_multiplier=1.1, sample_rate=256 / 60000, steps=14062)
accountant = sfumato.Accountant()
accountant.step(**run)
print(accountant.epsilon(delta=1e-5))
print("by Renyi divergence", accountant.renyi_epsilon(1e-5))

# %% [markdown]
# Epsilon over the epochs, from one accountant that goes on:

# %%
growing = sfumato.Accountant()
for epoch in range(1, 61):
    growing.step(1.1, 256 / 60000, steps=234)
    if epoch % 15 == 0:
        print(f"epoch {epoch}: epsilon {growing.get_epsilon(1e-5)}")

# %% [markdown]
# The noise for a target, in the words of the field:

# %%
for target in (1, 2, 4, 8):
    sigma = sfumato.noise_multiplier(target_epsilon=target, delta=1e-5, sample_rate=256 / 60000, steps=14062)
    print(f"epsilon {target}: noise multiplier {sigma:.4f}")

# %% [markdown]
# A claim is proven, refuted or neither; and what it means for an attacker:

# %%
answer = sfumato.account(**run, sampler="poisson", adjacency="add_remove", target_delta=1e-5, claim=(2, 1e-5))
print(answer)
fprs = [1e-3, 1e-2, 1e-1]
print(dict(zip(fprs, accountant.trade_off(fprs))))

# %%
assert answer.verdict == "violated" and accountant.get_epsilon(1e-5).value < accountant.renyi_epsilon(1e-5).value
