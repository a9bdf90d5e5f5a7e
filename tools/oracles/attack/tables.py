"""Tables that hurt: scales far apart in one table, duplicates, leverage near 1, collinear and constant columns, huge targets."""

import math


def spread(rng, low, high):
    return 10.0 ** rng.uniform(low, high)


def random_table(rng, largest=40):
    """(features, target) as lists of doubles. Without the column of ones."""
    n = min(
        largest,
        rng.choice(
            [1, 2, 3, 4, rng.randint(2, 12), rng.randint(2, 12), rng.randint(5, 25), rng.randint(20, 40)]
        ),
    )
    d = rng.choice([1, 1, 2, 2, 3, 4, 5])
    kind = rng.random()
    if kind < 0.25:
        scales = [1.0] * d
    elif kind < 0.6:
        scales = [spread(rng, -9, 9) for _ in range(d)]
    else:
        scales = [rng.choice([1e-9, 1e-6, 1e-3, 1.0, 1e3, 1e6, 1e9]) * rng.uniform(0.3, 3) for _ in range(d)]
    centres = [
        0.0 if rng.random() < 0.5 else rng.choice([1.0, 10.0, 1000.0]) * rng.gauss(0, 1) for _ in range(d)
    ]
    x = [[scales[j] * (centres[j] + rng.gauss(0, 1)) for j in range(d)] for _ in range(n)]
    if rng.random() < 0.3:  # figures that people have: few digits
        x = [[float(f"{v:.{rng.choice([2, 3, 6])}g}") for v in row] for row in x]
    if rng.random() < 0.1:
        j = rng.randrange(d)
        for row in x:
            row[j] = scales[j]  # constant
    if d > 1 and rng.random() < 0.15:  # collinear, exactly or nearly
        i, j = rng.sample(range(d), 2)
        factor = rng.choice([2.0, -0.5, 1024.0, rng.gauss(0, 1)])
        bend = rng.choice([0.0, 1e-12, 1e-8, 1e-5, 1e-3])
        for row in x:
            row[j] = row[i] * factor * (1.0 + bend * rng.gauss(0, 1))
    for _ in range(rng.choice([0, 0, 1, 3])):
        if n > 2:
            x[rng.randrange(n)] = x[rng.randrange(n)][:]  # duplicates
    if n > 2 and rng.random() < 0.25:  # leverage near 1
        i = rng.randrange(n)
        factor = spread(rng, 1, 8)
        x[i] = [v * factor for v in x[i]]
    if rng.random() < 0.15:
        x[rng.randrange(n)] = [0.0] * d
    weights = [rng.gauss(0, 1) / s for s in scales]
    level = rng.choice([1.0, 1.0, 1e-6, 1e6, spread(rng, -9, 9)])
    if rng.random() < 0.3:
        y = [float(rng.randint(0, 1)) for _ in range(n)]
    else:
        y = [
            level * (sum(w * v for w, v in zip(weights, row)) + rng.choice([0.1, 1.0]) * rng.gauss(0, 1))
            for row in x
        ]
    if rng.random() < 0.05:
        y = [0.0] * n
    return x, [v if math.isfinite(v) else 0.0 for v in y]


def write_csv(path, x, y):
    d = len(x[0])
    with open(path, "w", encoding="utf-8") as file:
        file.write(",".join([f"x{j}" for j in range(d)] + ["y"]) + "\n")
        for row, target in zip(x, y):
            file.write(",".join(repr(v) for v in [*row, target]) + "\n")


def write_matrix(path, rows):
    with open(path, "w", encoding="utf-8") as file:
        for row in rows:
            file.write(",".join(repr(v) for v in row) + "\n")


def random_noise(rng, d, level):
    """(option or lines of a file, exact matrix of doubles): isotropic, diagonal or full."""
    kind = rng.random()
    if kind < 0.6:
        return repr(level), [[level if i == j else 0.0 for j in range(d)] for i in range(d)]
    values = [level * spread(rng, -2, 2) for _ in range(d)]
    if kind < 0.8:
        return [values], [[values[i] if i == j else 0.0 for j in range(d)] for i in range(d)]
    # G G^T of short binary fractions is exact in doubles, hence symmetric and definite as written.
    g = [[rng.randint(-8, 8) / 8 + (1.5 if i == j else 0.0) for j in range(d)] for i in range(d)]
    power = 2.0 ** round(math.log2(level))
    full = [
        [power * (sum(a * b for a, b in zip(g[i], g[j])) + (0.125 if i == j else 0.0)) for j in range(d)]
        for i in range(d)
    ]
    return full, full
