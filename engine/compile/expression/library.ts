/** What of the expression library is used beyond its types: its own functions, with the signatures that check what they are given. */

import jsonata from 'jsonata'

/** The library calls what is bound to this name before each node of a program. */
const entry = Symbol.for('jsonata.__evaluate_entry') as unknown as string

type LibraryFunction = (this: unknown, ...values: readonly unknown[]) => unknown

interface LibraryDefinition {
  readonly implementation: LibraryFunction
  readonly signature: {
    /** Throws what the library throws for arguments that do not fit. `context` stands for one that may be left out. */
    readonly validate: (values: readonly unknown[], context: unknown) => readonly unknown[]
  }
}

interface Frame {
  readonly lookup: (name: string) => unknown
}

let frame: Frame | undefined

/** The library's own function of that name, as it defines it. */
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
  // The hook before the first node is called before anything is awaited.
  void probe.evaluate(undefined)
  if (found === undefined) throw new Error('the expression library no longer calls its hook at once')
  return found
}
