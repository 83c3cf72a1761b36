/**
 * Reads the typings that are generated from Google's discovery documents
 * (https://github.com/Maxim-Mazurok/google-api-typings-generator). A program writes them in few forms. Any other form
 * throws, so that nothing is overlooked.
 */

export type Type =
  | { readonly kind: 'string'; readonly values?: readonly string[] }
  | { readonly kind: 'number' | 'boolean' | 'any' | 'nothing' }
  | { readonly kind: 'list'; readonly of: Type }
  | { readonly kind: 'map'; readonly of: Type }
  | { readonly kind: 'object'; readonly fields: Fields }
  | { readonly kind: 'schema'; readonly name: string }

export interface Field {
  readonly type: Type
  /** Whether the field may be absent, as far as types say. */
  readonly isOptional: boolean
  readonly description: string
}

export type Fields = ReadonlyMap<string, Field>

export interface Method {
  readonly parameters: Fields
  /** The body of the request. Absent if there is none. */
  readonly body?: Type
  readonly answer: Type
}

export interface Typings {
  /** Maps an id without the service to an operation: `users.history.list`. */
  readonly methods: ReadonlyMap<string, Method>
  readonly schemas: ReadonlyMap<string, Fields>
  /** The revision: `20260307`. */
  readonly revision: string
}

interface Token {
  readonly kind: 'word' | 'text' | 'mark' | 'comment'
  readonly text: string
}

const forms =
  /\s+|\/\/[^\n]*|\/\*([\s\S]*?)\*\/|(?<word>[A-Za-z_$][\w$]*)|'(?<text>(?:[^'\\]|\\.)*)'|(?<mark>=>|[{}[\]():;?|<>,.=])/y

function tokensOf(source: string): Token[] {
  const tokens: Token[] = []
  forms.lastIndex = 0
  while (forms.lastIndex < source.length) {
    const start = forms.lastIndex
    const found = forms.exec(source)
    if (found === null)
      throw new Error(`The typings have an unknown sign: ${source.slice(start, start + 40)}`)
    const [, comment] = found
    const { word, text, mark } = found.groups ?? {}
    if (comment !== undefined) tokens.push({ kind: 'comment', text: comment.replace(/^\*+|\*$/g, '').trim() })
    else if (word !== undefined) tokens.push({ kind: 'word', text: word })
    else if (text !== undefined) tokens.push({ kind: 'text', text: text.replace(/\\(.)/g, '$1') })
    else if (mark !== undefined) tokens.push({ kind: 'mark', text: mark })
  }
  return tokens
}

interface Resource {
  readonly methods: ReadonlyMap<string, Method>
  readonly resources: ReadonlyMap<string, Resource>
}

/** Reads the typings of one service: `gmail`. */
export function parseTypings(source: string, service: string): Typings {
  const revision = /^\/\/ Revision: (\d+)$/m.exec(source)?.[1] ?? ''
  const start = source.indexOf(`  namespace ${service} {`)
  if (start === -1) throw new Error(`The typings know no ${service}.`)
  const tokens = tokensOf(source.slice(start))
  let at = 0

  const schemas = new Map<string, Fields>()
  /**
   * Interfaces of resources share names (`SubscriptionsResource` of projects and of topics). Each stands after its
   * parts, so a name means the last one that has not been used yet.
   */
  const untaken: { readonly name: string; readonly resource: Resource }[] = []
  const methods = new Map<string, Method>()

  function peek(): Token {
    while (tokens[at]?.kind === 'comment') at += 1
    const token = tokens[at]
    if (token === undefined) throw new Error('The typings end too soon.')
    return token
  }

  function next(): Token {
    const token = peek()
    at += 1
    return token
  }

  function isNext(text: string): boolean {
    const token = peek()
    return token.kind !== 'text' && token.text === text
  }

  function take(text: string): boolean {
    if (!isNext(text)) return false
    at += 1
    return true
  }

  function expect(text: string): void {
    if (!take(text)) throw new Error(`The typings have ${JSON.stringify(peek().text)} instead of ${text}.`)
  }

  /** The documentation of the next token. */
  function description(): string {
    let said = ''
    for (; tokens[at]?.kind === 'comment'; at += 1) said = tokens[at]?.text ?? ''
    return said
  }

  function readType(): Type {
    take('|')
    const all = [readOne()]
    while (take('|')) all.push(readOne())
    const [first] = all
    if (first === undefined) throw new Error('A type is missing.')
    if (all.length === 1) return first
    if (all.every((type) => type.kind === 'string' && type.values !== undefined)) {
      return {
        kind: 'string',
        values: all.flatMap((type) => (type.kind === 'string' ? (type.values ?? []) : [])),
      }
    }
    // A parameter that may be repeated is one value or a list: `string | string[]`.
    const list = all.find((type) => type.kind === 'list')
    if (list === undefined) throw new Error(`The typings have an unknown union: ${JSON.stringify(all)}`)
    return list
  }

  function readOne(): Type {
    let type = readAtom()
    while (take('[')) {
      expect(']')
      type = { kind: 'list', of: type }
    }
    return type
  }

  function readAtom(): Type {
    if (isNext('{')) return readBraces()
    if (take('(')) {
      const type = readType()
      expect(')')
      return type
    }
    const token = next()
    if (token.kind === 'text') return { kind: 'string', values: [token.text] }
    switch (token.text) {
      case 'string':
      case 'number':
      case 'boolean':
      case 'any':
        return { kind: token.text }
      case 'void':
        return { kind: 'nothing' }
      case 'Request': {
        expect('<')
        const type = readType()
        expect('>')
        return type
      }
    }
    if (token.kind !== 'word') throw new Error(`The typings have an unknown type: ${token.text}`)
    return { kind: 'schema', name: token.text }
  }

  function readBraces(): Type {
    expect('{')
    if (take('[')) {
      for (const word of ['P', 'in', 'string', ']', ':']) expect(word)
      const of = readType()
      take(';')
      expect('}')
      return { kind: 'map', of }
    }
    return { kind: 'object', fields: readFields() }
  }

  /** Reads up to the closing brace, and past it. */
  function readFields(): Fields {
    const fields = new Map<string, Field>()
    for (;;) {
      const said = description()
      if (take('}')) return fields
      const { text: name } = next()
      const isOptional = take('?')
      expect(':')
      fields.set(name, { type: readType(), isOptional, description: said })
      expect(';')
    }
  }

  function readResource(): Resource {
    const own = new Map<string, Method>()
    const resources = new Map<string, Resource>()
    while (!take('}')) {
      const { text: name } = next()
      if (take(':')) {
        resources.set(name, takeResource(next().text))
        expect(';')
        continue
      }
      const method = readMethod()
      // Of two forms, the second has the parameters and the body apart.
      if (method.body !== undefined || !own.has(name)) own.set(name, method)
    }
    return { methods: own, resources }
  }

  function readMethod(): Method {
    let parameters: Fields = new Map()
    let body: Type | undefined
    expect('(')
    while (!take(')')) {
      const { text: name } = next()
      take('?')
      expect(':')
      const type = readType()
      if (name === 'body') body = type
      else if (type.kind === 'object') parameters = type.fields
      else throw new Error(`The typings have an unknown parameter: ${name}`)
      take(',')
    }
    expect(':')
    const answer = readType()
    expect(';')
    return { parameters, body, answer }
  }

  function takeResource(name: string): Resource {
    const index = untaken.findLastIndex((each) => each.name === name)
    const [found] = index === -1 ? [] : untaken.splice(index, 1)
    if (found === undefined) throw new Error(`The typings have no ${name}.`)
    return found.resource
  }

  function collect(resource: Resource, prefix: string): void {
    for (const [name, method] of resource.methods) methods.set(`${prefix}.${name}`, method)
    for (const [name, inner] of resource.resources) collect(inner, `${prefix}.${name}`)
  }

  for (const word of ['namespace', service, '{']) expect(word)
  while (!take('}')) {
    if (take('interface')) {
      const { text: name } = next()
      expect('{')
      if (name.endsWith('Resource')) untaken.push({ name, resource: readResource() })
      else schemas.set(name, readFields())
      continue
    }
    expect('const')
    const { text: name } = next()
    expect(':')
    collect(takeResource(next().text), name)
    expect(';')
  }
  if (untaken.length > 0) throw new Error(`The typings name nowhere: ${untaken.map(({ name }) => name)}`)
  return { methods, schemas, revision }
}
