/** Owns the bytes that a signature is made over: a template of text and slots, filled with what a request holds. */

export const slots = ['body', 'timestamp', 'id', 'url', 'method', 'form'] as const
export type Slot = (typeof slots)[number]

type Piece = { readonly text: string } | { readonly slot: Slot }

/** What stands in braces and is no slot is text. */
export type SignedTemplate = readonly Piece[]

const slotPattern = new RegExp(`\\{(${slots.join('|')})\\}`)

export function compileSigned(template: string): SignedTemplate {
  // Splitting by a pattern with a group gives text and slots in turn.
  const pieces = template.split(slotPattern)
  return pieces.flatMap((piece, index): Piece[] => {
    if (index % 2 === 1) return [{ slot: piece as Slot }]
    return piece === '' ? [] : [{ text: piece }]
  })
}

export function hasSlot(template: SignedTemplate, slot: Slot): boolean {
  return template.some((piece) => 'slot' in piece && piece.slot === slot)
}

/** Of the slots that the template has. */
export interface SignedValues {
  /** As received; never through a text, which would change bytes that are none. */
  readonly body: Uint8Array
  readonly timestamp: string
  readonly id: string
  readonly url: string
  readonly method: string
  readonly form: string
}

/** In order, texts as UTF-8: for whoever digests piece by piece. */
export function feedSigned(
  template: SignedTemplate,
  values: SignedValues,
  take: (part: string | Uint8Array) => void,
): void {
  for (const piece of template) take('slot' in piece ? values[piece.slot] : piece.text)
}

/** The same at once, for whoever wants all of it. */
export function signedBytes(template: SignedTemplate, values: SignedValues): Buffer {
  const parts: Uint8Array[] = []
  feedSigned(template, values, (part) => parts.push(typeof part === 'string' ? Buffer.from(part) : part))
  return Buffer.concat(parts)
}
