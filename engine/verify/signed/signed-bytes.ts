/** Puts together the bytes that a signature covers: a template of text and slots, filled from a request. */

export const slots = ['body', 'timestamp', 'id', 'url', 'method', 'form'] as const
export type Slot = (typeof slots)[number]

type Piece = { readonly text: string } | { readonly slot: Slot }

/** Braces around anything but the name of a slot are text. */
export type SignedTemplate = readonly Piece[]

const slotPattern = new RegExp(`\\{(${slots.join('|')})\\}`)

export function compileSigned(template: string): SignedTemplate {
  // Splitting by a pattern with a group gives text and slots alternately.
  const pieces = template.split(slotPattern)
  return pieces.flatMap((piece, index): Piece[] => {
    if (index % 2 === 1) return [{ slot: piece as Slot }]
    return piece === '' ? [] : [{ text: piece }]
  })
}

export function hasSlot(template: SignedTemplate, slot: Slot): boolean {
  return template.some((piece) => 'slot' in piece && piece.slot === slot)
}

/** The values that fill the slots. */
export interface SignedValues {
  /** The bytes as received: decoding them to text would change those that are not valid text. */
  readonly body: Uint8Array
  readonly timestamp: string
  readonly id: string
  readonly url: string
  readonly method: string
  readonly form: string
}

/** Returns the parts in order; texts count as UTF-8. */
export function signedParts(
  template: SignedTemplate,
  values: SignedValues,
): readonly (string | Uint8Array)[] {
  return template.map((piece) => ('slot' in piece ? values[piece.slot] : piece.text))
}
