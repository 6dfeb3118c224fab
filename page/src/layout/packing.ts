// SPDX-License-Identifier: Apache-2.0

export interface Box {
  readonly width: number;
  readonly height: number;
}

/** Upper left corners of packed boxes, and the size of all together. */
export interface Packing extends Box {
  readonly corners: readonly { readonly left: number; readonly top: number }[];
}

interface Segment {
  readonly left: number;
  readonly right: number;
  readonly bottom: number;
}

/** Widths to try, relative to the side of a box of the desired aspect ratio and the total area. */
const WIDTH_FACTORS = [1, 1.15, 1.3, 1.5];

/** Pack boxes beside and below each other, in their order, into a shape close to an aspect ratio (width by height). */
export function packBoxes(boxes: readonly Box[], aspect: number, gap: number): Packing {
  const area = boxes.reduce((sum, box) => sum + (box.width + gap) * (box.height + gap), 0);
  const widest = boxes.reduce((most, box) => Math.max(most, box.width), 0);
  const limits = WIDTH_FACTORS.map((factor) => Math.max(widest, factor * Math.sqrt(area * aspect)));
  const side = ({ width, height }: Box): number => Math.max(width / aspect, height);
  return [...new Set(limits)]
    .map((limit) => packInto(boxes, limit, gap))
    .reduce((best, packing) => (side(packing) < side(best) ? packing : best));
}

/** Place each box as high, then as far left as the boxes before it allow: bottom-left packing on a skyline. */
function packInto(boxes: readonly Box[], limit: number, gap: number): Packing {
  let skyline: Segment[] = [{ left: 0, right: Infinity, bottom: 0 }];
  let [width, height] = [0, 0];
  const corners = boxes.map((box) => {
    const { left, top } = highestPlace(skyline, box.width, limit);
    const right = left + box.width + gap;
    skyline = covered(skyline, { left, right, bottom: top + box.height + gap });
    width = Math.max(width, left + box.width);
    height = Math.max(height, top + box.height);
    return { left, top };
  });
  return { corners, width, height };
}

function highestPlace(skyline: readonly Segment[], width: number, limit: number): { left: number; top: number } {
  let best = { left: 0, top: Infinity };
  skyline.forEach(({ left }, first) => {
    if (left > 0 && left + width > limit) return;
    let top = 0;
    for (let at = first; at < skyline.length && skyline[at].left < left + width; at++) top = Math.max(top, skyline[at].bottom);
    if (top < best.top) best = { left, top };
  });
  return best;
}

/** The skyline after a box was placed. */
function covered(skyline: readonly Segment[], box: Segment): Segment[] {
  const before = skyline.filter(({ left }) => left < box.left).map((part) => ({ ...part, right: Math.min(part.right, box.left) }));
  const after = skyline.filter(({ right }) => right > box.right).map((part) => ({ ...part, left: Math.max(part.left, box.right) }));
  return [...before, box, ...after];
}
