# %% [markdown]
# # The exact risk of a regression
# A ridge regression on 442 patients is published with noise. How well can an attacker, who knows all the others, tell
# whether one of them was in the table?

# %%
import csv
from pathlib import Path

import numpy as np

import sfumato

with open(Path("examples/rows/diabetes.csv"), newline="") as file:
    header, *lines = csv.reader(file)
table = {name: np.array([float(line[i]) for line in lines]) for i, name in enumerate(header)}

answer = sfumato.rows(table, target="progression", ridge=1, noise=100)
print(answer)

# %% [markdown]
# Every row is there, exactly. The advantage goes with the leverage, but is not a function of it.

# %%
risks = answer.risks
worst = np.argsort(-risks["advantage"])[:5]
for i in worst:
    print(f"row {i}: advantage {risks['advantage'][i]:.4f}, leverage {risks['leverage'][i]:.4f}, age {table['age'][i]:.3f}")
print("correlation with leverage:", np.corrcoef(risks["advantage"], risks["leverage"])[0, 1].round(3))

# %% [markdown]
# More noise hides more, and costs accuracy. The noise that gives the worst row an advantage of 0.1:

# %%
low, high = 1e2, 1e6
while high / low > 1.01:
    middle = (low * high) ** 0.5
    worst_advantage = sfumato.rows(table, target="progression", ridge=1, noise=middle).risks["advantage"].max()
    low, high = (middle, high) if worst_advantage > 0.1 else (low, middle)
print(f"variance {high:.0f}")
assert 1e3 < high < 1e6

# %%
assert int(worst[0]) == 169 and answer.get("advantage", row=170).claim == "exact"
