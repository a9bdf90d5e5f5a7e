# %% [markdown]
# # A private regression
# Wages of 6,000 invented people: a linear regression that may be published, at epsilon = 1. What is declared comes from outside the table.

# %%
import csv
from typing import Any

import numpy as np

import sfumato

with open("examples/fit/wages.csv", newline="") as file:
    header, *lines = csv.reader(file)
table: dict[str, Any] = {name: [line[i] for line in lines] for i, name in enumerate(header)}
for name in ("age", "hours", "tenure", "wage"):
    table[name] = np.array([float(value) if value else np.nan for value in table[name]])  # NaN: missing

bounds = {"age": (15, 70), "hours": (0, 60), "school": ["primary", "secondary", "bachelor", "master"], "tenure": (0, 50),
          "remote": ["no", "yes"], "wage": (0, 80)}
answer = sfumato.fit(table, "wage", model="ridge", bounds=bounds, records=6000, adjacency="add_remove", target_epsilon=1,
                     target_delta=1e-6)
print(answer)

# %% [markdown]
# The model, and the statement that goes with it:

# %%
for name, coefficient in zip(answer.model["feature_names_in_"], answer.model["coef_"]):
    print(f"{name:20s} {coefficient:8.3f}")
print(answer.statement)

# %% [markdown]
# The same as an estimator, on the numeric columns. More privacy costs accuracy; each fit spends its own budget.

# %%
numeric = ["age", "hours", "tenure"]
X, y = np.stack([table[name] for name in numeric], axis=1), table["wage"]
whole = ~np.isnan(X).any(axis=1) & ~np.isnan(y)
X, y = X[whole], y[whole]
for epsilon in (0.3, 1, 3):
    model = sfumato.PrivateRidge(epsilon, bounds=[bounds[name] for name in numeric], target_bounds=(0, 80), records=6000).fit(X, y)
    print(f"epsilon {epsilon}: R^2 {model.score(X, y):.3f}")

# %%
assert answer.guarantee is not None
assert answer.guarantee.epsilon.value <= 1 + 1e-9 and model.score(X, y) > 0.2
