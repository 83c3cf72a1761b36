/** Colours texts on a terminal. */

/** Each function colours a text, or returns it as it is where colour is off. */
export type Paint = Record<'dim' | 'bold' | 'red' | 'yellow' | 'green' | 'cyan', (text: string) => string>

const colours: Paint = {
  dim: (text) => `\x1b[2m${text}\x1b[22m`,
  bold: (text) => `\x1b[1m${text}\x1b[22m`,
  red: (text) => `\x1b[31m${text}\x1b[39m`,
  yellow: (text) => `\x1b[33m${text}\x1b[39m`,
  green: (text) => `\x1b[32m${text}\x1b[39m`,
  cyan: (text) => `\x1b[36m${text}\x1b[39m`,
}

const same = (text: string) => text
const plain: Paint = { dim: same, bold: same, red: same, yellow: same, green: same, cyan: same }

export function createPaint(options: { readonly colour: boolean }): Paint {
  return options.colour ? colours : plain
}
