"""A CNN on Fashion-MNIST with differential privacy: epsilon 3 at delta 1e-5, in minutes on one core.

  fashion_mnist.py [--noise shaped|isotropic] [--epochs 4] [--rate R] [--folder FOLDER] [--records N]

A scheduler, a checkpoint after every epoch, and an account on disk that is never behind: started again with the same --folder, it goes on where it
was stopped, by a signal too. Needs torch 2.1 or newer, and the images (apt install dataset-fashion-mnist, or sfumato data get fashion-mnist).
"""
import argparse
import gzip
import os

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from sfumato.torch import make_private


def images(kind):
    roots = [os.environ.get("SFUMATO_DATA", ""), os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache")) + "/sfumato", "/usr/share/datasets"]
    root = next(r for r in roots if os.path.exists(f"{r}/fashion-mnist/train-images-idx3-ubyte.gz"))
    pixels, labels = (np.frombuffer(gzip.open(f"{root}/fashion-mnist/{kind}-{what}-ubyte.gz").read(), np.uint8, offset=at).copy()
                      for what, at in (("images-idx3", 16), ("labels-idx1", 8)))
    return (torch.from_numpy(pixels).reshape(-1, 1, 28, 28).float() / 255 - 0.286) / 0.353, torch.from_numpy(labels).long()


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(1, 16, 3, stride=2, padding=1), nn.GroupNorm(4, 16), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2, padding=1),
                         nn.GroupNorm(4, 32), nn.ReLU(), nn.AvgPool2d(2, ceil_mode=True), nn.Flatten(), nn.Linear(512, 10))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--noise", choices=["shaped", "isotropic"], default="shaped")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--rate", type=float, help="learning rate; 1 shaped, 4 isotropic")
    parser.add_argument("--folder", default="fashion-private")
    parser.add_argument("--records", type=int, default=60000)
    options = parser.parse_args()
    torch.set_num_threads(1)
    os.makedirs(options.folder, exist_ok=True)
    checkpoint = os.path.join(options.folder, "checkpoint.pt")

    x, y = images("train")
    x, y = x[: options.records], y[: options.records]
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=options.rate or (1.0 if options.noise == "shaped" else 4.0), momentum=0.9)
    loader = DataLoader(TensorDataset(x, y), batch_size=max(1, options.records // 60), shuffle=True)
    model, optimizer, loader = make_private(model, optimizer, loader, target_epsilon=3, target_delta=1e-5, epochs=options.epochs, max_grad_norm=1.0,
                                            noise=options.noise, account=os.path.join(options.folder, "account.toml"))
    scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.01, total_iters=options.epochs * len(loader))
    criterion = nn.CrossEntropyLoss()
    begun = 0
    if os.path.exists(checkpoint):
        kept = torch.load(checkpoint, weights_only=False)
        model.load_state_dict(kept["model"])
        optimizer.load_state_dict(kept["optimizer"])
        scheduler.load_state_dict(kept["scheduler"])
        begun = kept["epoch"]
        print(f"goes on after {begun} epochs; epsilon spent: {optimizer.epsilon()}")

    for epoch in range(begun, options.epochs):
        if optimizer.left == 0:  # steps that were made before the process was killed, and not kept, are paid for
            break
        model.train()
        for inputs, targets in loader:
            optimizer.zero_grad()
            criterion(model(inputs), targets).backward()
            optimizer.step()
            scheduler.step()
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "scheduler": scheduler.state_dict(), "epoch": epoch + 1},
                   checkpoint + ".new")
        os.replace(checkpoint + ".new", checkpoint)
        print(f"epoch {epoch + 1}: epsilon {optimizer.epsilon()}", flush=True)

    model.eval()
    x, y = images("t10k")
    with torch.no_grad():
        right = sum(int((model(x[at : at + 1000]).argmax(dim=1) == y[at : at + 1000]).sum()) for at in range(0, len(x), 1000))
    print(f"test accuracy {right / len(x):.4f}\n{optimizer.guarantee()}")


if __name__ == "__main__":
    main()
