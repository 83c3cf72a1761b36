/**
 * Gives access to parts of the expression library that its types do not have: its functions, with the signatures that
 * check their arguments.
 */

import jsonata from 'jsonata'

/** The library calls the function with this name before each node of a program. */
const entry = Symbol.for('jsonata.__evaluate_entry') as unknown as string

type LibraryFunction = (this: unknown, ...values: readonly unknown[]) => unknown

interface LibraryDefinition {
  readonly implementation: LibraryFunction
  readonly signature: {
    /** Throws the library's error for arguments that do not fit. `context` replaces an argument that may be left out. */
    readonly validate: (values: readonly unknown[], context: unknown) => readonly unknown[]
  }
}

interface Frame {
  readonly lookup: (name: string) => unknown
}

let frame: Frame | undefined

/** Returns the library's own definition of a function. */
export function libraryDefinition(name: string): LibraryDefinition {
  frame ??= openFrame()
  return frame.lookup(name) as LibraryDefinition
}

function openFrame(): Frame {
  const probe = jsonata('1')
  let found: Frame | undefined
  probe.assign(entry, (_node: unknown, _input: unknown, environment: Frame) => {
    found = environment
  })
  // The hook runs before the first node, and before anything is awaited.
  void probe.evaluate(undefined)
  if (found === undefined) throw new Error('the expression library no longer calls its hook at once')
  return found
}
