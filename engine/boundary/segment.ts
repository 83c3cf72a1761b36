/** Owns the segment: one piece of a rendered text that knows whose words it holds. */

/** `literal` is the operator's, from the template; `value` came with the request, under the name `path`. */
export type Segment = LiteralSegment | ValueSegment

export interface LiteralSegment {
  readonly literal: string
}

export interface ValueSegment {
  readonly value: string
  /** Where in the request it stood, as a human would write it: `pull_request.title`. */
  readonly path: string
}

export function isLiteral(segment: Segment): segment is LiteralSegment {
  return 'literal' in segment
}

/** The text as rendered, as if there were no boundary. */
export function plainText(segments: readonly Segment[]): string {
  let text = ''
  for (const segment of segments) text += isLiteral(segment) ? segment.literal : segment.value
  return text
}
