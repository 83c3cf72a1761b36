/** Compiles the templates of arguments and variables, which hold placeholders such as `{model}`. */

import { type PluginError, permanentError } from '@reveille/kit'

export const placeholders = [
  'prompt',
  'model',
  'modelName',
  'thinking',
  'session',
  'sessionKey',
  'runId',
  'systemPrompt',
  'timeoutSeconds',
  'attempt',
  'kind',
] as const
export type Placeholder = (typeof placeholders)[number]

/** The values of placeholders in one turn. An empty text counts as absent. */
export type Values = Readonly<Partial<Record<Placeholder, string>>>

export type Template = ReturnType<typeof compileTemplate>

const token = /\{\{(\w+)\}\}|\{([A-Za-z]+)\}/g

/** Compiles a template. `{{name}}` is the text `{name}`, and other braces are text. @throws PluginError `bad-config` */
export function compileTemplate(text: string, key: string) {
  const parts: (string | { readonly name: Placeholder })[] = []
  let end = 0
  for (const found of text.matchAll(token)) {
    parts.push(text.slice(end, found.index))
    const [whole, literal, name = ''] = found
    parts.push(literal === undefined ? { name: knownName(name, key) } : `{${literal}}`)
    end = found.index + whole.length
  }
  parts.push(text.slice(end))
  const pieces = parts.filter((part) => part !== '')
  const names = pieces.flatMap((piece) => (typeof piece === 'string' ? [] : [piece.name]))
  if (/^-+\{[A-Za-z]+\}/.test(text)) {
    throw badConfiguration(`${key} lets a value name a flag; write --name={value}, or the two as a list`)
  }
  return {
    names,
    /** True if the text begins with a value, which then decides whether the text is a flag. */
    beginsWithValue: pieces.length > 0 && typeof pieces[0] !== 'string',
    /** Returns the text, or undefined if one of its values is absent. */
    render(values: Values): string | undefined {
      if (names.some((name) => !values[name])) return undefined
      return pieces.map((piece) => (typeof piece === 'string' ? piece : values[piece.name])).join('')
    },
  }
}

function knownName(name: string, key: string): Placeholder {
  const known = placeholders.find((each) => each === name)
  if (known !== undefined) return known
  throw badConfiguration(
    `${key} holds {${name}}, which is no placeholder; known: ${placeholders.join(', ')}. The text itself is {{${name}}}`,
  )
}

export function badConfiguration(message: string): PluginError {
  return permanentError('bad-config', `${message}.`)
}
