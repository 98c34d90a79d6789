"""Two layers of graph attention classify the nodes of Cora, CiteSeer or the digits graph."""

import argparse
import signal
import warnings

import torch
import torch.nn.functional as F
from rich.console import Console

from sage_attention import datasets, nn

HEADS, HEAD_DIM, LR, DECAY, PATIENCE = 8, 8, 0.005, 5e-4, 100  # Velickovic et al., ICLR 2018
warnings.filterwarnings("ignore", "Sparse ")  # CSR: "beta", and invariants unchecked
DROPOUTS = {"gat": (0.6, 0.6), "dot": (0.8, 0.3)}  # of a layer's input, of its attention


class Net(torch.nn.Module):
    def __init__(self, num_features, num_classes, score):
        super().__init__()
        self.dropout, rate = DROPOUTS[score]
        self.first = nn.SageAttentionConv(num_features, HEAD_DIM, HEADS, score=score, dropout=rate)
        self.second = nn.SageAttentionConv(HEADS * HEAD_DIM, num_classes, score=score, dropout=rate)

    def forward(self, x, graph):
        values = F.dropout(x.values(), self.dropout, self.training)  # a zero stays a zero anyway
        x = torch.sparse_csr_tensor(x.crow_indices(), x.col_indices(), values, x.shape)
        x = F.elu(self.first(x, graph))
        return self.second(F.dropout(x, self.dropout, self.training), graph)


def train(net, graph, x, y, split, max_epochs, status):
    """Stops when validation accuracy and loss both stand still; keeps the best of both."""
    optimizer = torch.optim.Adam(net.parameters(), LR, weight_decay=DECAY)
    best_accuracy, best_loss, waited, epoch, kept = 0.0, float("inf"), 0, 0, None
    while epoch < max_epochs and waited < PATIENCE:
        epoch += 1
        net.train().zero_grad()
        F.cross_entropy(net(x, graph)[split["train"]], y[split["train"]]).backward()
        optimizer.step()
        logits = net.eval()(x, graph).detach()
        loss = F.cross_entropy(logits[split["val"]], y[split["val"]]).item()
        hits = 100.0 * (logits.argmax(1) == y)
        accuracy, test = (hits[split[part]].mean().item() for part in ("val", "test"))
        better = accuracy >= best_accuracy, loss <= best_loss
        kept = (accuracy, test, epoch) if all(better) else kept
        waited = 0 if any(better) else waited + 1
        best_accuracy, best_loss = max(accuracy, best_accuracy), min(loss, best_loss)
        status.update(f"epoch {epoch}: val {accuracy:.1f} %, best {best_accuracy:.1f} %")
    return kept


parser = argparse.ArgumentParser(description=__doc__)
signal.signal(signal.SIGINT, lambda *_: parser.exit(130, "interrupted\n"))
parser.add_argument("--dataset", choices=["cora", "citeseer", "digits"], default="cora")
parser.add_argument("--score", choices=list(DROPOUTS), default="gat")
parser.add_argument("--seeds", type=int, default=10)
parser.add_argument("--epochs", type=int, default=100_000, help="at most")
parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
args = parser.parse_args()
if min(args.seeds, args.epochs) < 1:
    parser.error("--seeds and --epochs must be at least 1")
try:
    data, results = datasets.load(args.dataset), []
    graph, y = data.graph.to(args.device), data.y.to(args.device)
    x = (data.x / data.x.sum(1, keepdim=True).clamp(min=1e-12)).to(args.device).to_sparse_csr()
except (AssertionError, ImportError, OSError, RuntimeError) as error:  # no such device, no files
    parser.error(str(error).splitlines()[0])
print(f"{data.name}, score {args.score}, {HEADS} heads x {HEAD_DIM}, then 1; rows of x sum to 1")
print(f"Adam, lr {LR}, decay {DECAY}, dropout {DROPOUTS[args.score]}, on {args.device}")
for seed in range(args.seeds):
    torch.manual_seed(seed)
    split = data.splits[seed % len(data.splits)]
    net = Net(x.shape[1], data.num_classes, args.score).to(args.device)
    with Console().status("") as status:
        val, test, epoch = train(net, graph, x, y, split, args.epochs, status)
    results.append(test)
    print(f"seed {seed}: val {val:.1f}, test {test:.1f} % at epoch {epoch}", flush=True)
spread = f" +- {torch.tensor(results).std():.2f}" if args.seeds > 1 else ""
print(f"test accuracy: {sum(results) / len(results):.2f}{spread} % (seeds: {args.seeds})")
