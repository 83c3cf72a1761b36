/** Owns how a turn's `thinking` is said to the AI SDK, which says it to each vendor in the vendor's own way. */

const levels = {
  off: 'none',
  minimal: 'minimal',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'xhigh',
} as const

export type Reasoning = (typeof levels)[keyof typeof levels]

/** Undefined leaves it to the vendor. A level that is not in the list was let in by a newer host. */
export function reasoningOf(thinking: string | undefined): Reasoning | undefined {
  if (thinking === undefined || !Object.hasOwn(levels, thinking)) return undefined
  return levels[thinking as keyof typeof levels]
}
