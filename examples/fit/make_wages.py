#!/usr/bin/python3
"""Makes wages.csv: 6,000 invented people, so that the example protects nobody. Prints the table."""
import math
import random

random.seed(20261117)
SCHOOL = {"primary": 0.0, "secondary": 3.1, "bachelor": 8.4, "master": 11.9}
print("age,hours,school,tenure,remote,wage")
for _ in range(6000):
    age = random.randint(18, 67)
    hours = round(min(60, max(5, random.gauss(37, 8))), 1)
    school = random.choices(list(SCHOOL), [1, 4, 3, 2])[0]
    tenure = round(min(age - 16, random.expovariate(1 / 7)), 1)
    remote = "yes" if random.random() < 0.3 else "no"
    wage = 9 + 0.16 * age + 0.09 * hours + SCHOOL[school] + 0.35 * tenure + (1.2 if remote == "yes" else 0)
    wage += random.gauss(0, 3.2)
    print(f"{age},{hours},{school},{tenure},{remote},{wage:.2f}" if random.random() > 0.01 else
          f"{age},,{school},{tenure},{remote},{wage:.2f}")
