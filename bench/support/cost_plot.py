"""Costs against sizes as one SVG: a panel for each size, both axes logarithmic, every point with its value."""
import math

WIDTH, HEIGHT, LEFT, TOP = 250, 200, 46, 34


def place(value, low, high, length):
    """Where a value stands on a logarithmic axis."""
    return length * (math.log(value) - math.log(low)) / (math.log(high) - math.log(low))


def panel(title, points, low, high, offset):
    xs = sorted(points)
    left, right = xs[0] / 1.3, xs[-1] * 1.3
    spots = [(offset + LEFT + place(x, left, right, WIDTH), TOP + HEIGHT - place(points[x], low, high, HEIGHT)) for x in xs]
    out = [f'<rect x="{offset + LEFT}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#999"/>']
    out.append(f'<text x="{offset + LEFT + WIDTH / 2}" y="{TOP + HEIGHT + 34}" text-anchor="middle">{title}</text>')
    out.append('<polyline fill="none" stroke="#1f77b4" stroke-width="2" points="' + " ".join(f"{x:.1f},{y:.1f}" for x, y in spots) + '"/>')
    for size, (x, y) in zip(xs, spots):
        out.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="#1f77b4"/>')
        out.append(f'<text x="{x:.1f}" y="{y - 8:.1f}" text-anchor="middle">{points[size]:.3g}</text>')
        out.append(f'<text x="{x:.1f}" y="{TOP + HEIGHT + 16}" text-anchor="middle">{size:,}</text>')
    return out


def svg(what, panels):
    """`panels`: titles and dictionaries from size to cost."""
    costs = [cost for _, points in panels for cost in points.values()]
    low, high = min(costs) / 1.5, max(costs) * 1.8
    width = len(panels) * (WIDTH + LEFT) + 16
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {TOP + HEIGHT + 46}" font-family="sans-serif" font-size="12">']
    out.append(f'<rect width="{width}" height="{TOP + HEIGHT + 46}" fill="white"/>')
    out.append(f'<text x="{LEFT}" y="18">{what}, logarithmic axes</text>')
    for tick in (1, 2, 5, 10, 20, 50, 100, 200):
        if low < tick < high:
            y = TOP + HEIGHT - place(tick, low, high, HEIGHT)
            out.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{tick}</text>')
            out.append(f'<line x1="{LEFT}" x2="{width - 16}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
    for k, (title, points) in enumerate(panels):
        out += panel(title, points, low, high, k * (WIDTH + LEFT))
    return "\n".join(out + ["</svg>", ""])
