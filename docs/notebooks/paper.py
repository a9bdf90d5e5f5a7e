# %% [markdown]
# # The paper in Python
# Noise that depends on the direction against noise that does not, on a quadratic loss: at the same error, which hides more?
# The answer depends on where the record moves the minimiser.

# %%
import numpy as np

import sfumato

curvature = np.array([10.0, 1.0])


def advantage(sigma, move):
    answer = sfumato.quadratic(d=dict(A=curvature, minimiser=[1.0, 1.0], Sigma=sigma),
                               d_prime=dict(minimiser=1.0 + np.asarray(move)), times=[np.inf])
    return float(answer["advantage"]), answer["excess_loss"].value


# %% [markdown]
# The same stationary excess loss, tr(Sigma) / 4, spread in three ways, for records that move either coordinate:

# %%
for name, sigma in (("isotropic", [2.0, 2.0]), ("along the curvature", [3.6, 0.4]), ("against it", [0.4, 3.6])):
    for move in ((0.1, 0.0), (0.0, 0.1)):
        value, loss = advantage(sigma, move)
        print(f"{name:20s} record moves {move}: advantage {value:.4f}, excess loss {loss:.3f}")

# %% [markdown]
# The design that hides both best, for the same error, and its certificate. In the long run coordinate i has variance Sigma_i / (2 A_i), so that
# a move m of the minimiser weighs sqrt(A_i) m against the noise:

# %%
differences = [curvature**0.5 * [0.1, 0.0], curvature**0.5 * [0.0, 0.1]]
design = sfumato.design(differences, differences_are="public", trace=4.0)
print(design)
worst = max(advantage(design, move)[0] for move in ((0.1, 0.0), (0.0, 0.1)))
isotropic = max(advantage([2.0, 2.0], move)[0] for move in ((0.1, 0.0), (0.0, 0.1)))
print(f"worst advantage: designed {worst:.4f}, isotropic {isotropic:.4f}")

# %% [markdown]
# Equations without a closed form: a double well, whose drift is a function. What is proven needs a proof of yours; what is simulated is an estimate.

# %%
answer = sfumato.bound(lambda x: x - x**3, lambda x: x - x**3 + 0.1, sigma=0.5, d=dict(start_covariance=0.1),
                       times=[0.5, 1.0], paths=4000)
print(answer)

# %%
assert worst < isotropic and answer.get("kl_forward", time=1.0, by="path_paths").claim == "estimate"
