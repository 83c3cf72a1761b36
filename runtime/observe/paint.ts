/** Colours texts on a terminal. */

import { styleText } from 'node:util'

const styles = ['dim', 'bold', 'red', 'yellow', 'green', 'cyan'] as const

/** Each function colours a text, or returns it as it is where colour is off. */
export type Paint = Record<(typeof styles)[number], (text: string) => string>

export function createPaint({ colour }: { readonly colour: boolean }): Paint {
  const painted = styles.map((style) => [
    style,
    (text: string) => (colour ? styleText(style, text, { validateStream: false }) : text),
  ])
  return Object.fromEntries(painted) as Paint
}
