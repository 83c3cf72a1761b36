/** A segment is one piece of a rendered text, and says whether it is the operator's or came from outside. */

/** A `literal` is the operator's, from the template; a `value` came with the request, under the name `path`. */
export type Segment = LiteralSegment | ValueSegment

export interface LiteralSegment {
  readonly literal: string
}

export interface ValueSegment {
  readonly value: string
  /** The place in the request, as a person would write it: `pull_request.title`. */
  readonly path: string
}

export function isLiteral(segment: Segment): segment is LiteralSegment {
  return 'literal' in segment
}

/** Returns the rendered text without a boundary. */
export function plainText(segments: readonly Segment[]): string {
  let text = ''
  for (const segment of segments) text += isLiteral(segment) ? segment.literal : segment.value
  return text
}
