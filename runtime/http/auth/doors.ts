/** Owns doors: what the hook surface asks of senders under one snapshot, made once and not for every request. */

import {
  type Auth,
  authOf,
  createSecretMatcher,
  type Provider,
  placeOfTerm,
  type SecretMatcher,
  type Snapshot,
  type Term,
  type Terms,
} from '@reveille/engine'
import { prefixOf } from '../target.ts'

export interface Door {
  /** What URLs under `hooks.path` start with. */
  readonly prefix: string
  entranceOf(endpoint: string | undefined): Entrance
}

/** What one endpoint asks of its senders. */
export interface Entrance {
  readonly auth: Auth
  readonly rate?: Terms['rate']
  readonly verify?: Term<Provider>
  /** Undefined: no list has it. */
  findToken(given: string): FoundToken | undefined
}

export interface FoundToken {
  /** Where the operator wrote it: `hooks.token`. */
  readonly list: string
  /** From 0, the newest first. */
  readonly index: number
}

interface TokenList {
  readonly place: string
  readonly matches: SecretMatcher
}

export function createDoors(): (snapshot: Snapshot) => Door {
  const doors = new WeakMap<Snapshot, Door>()

  return function doorOf(snapshot) {
    const known = doors.get(snapshot)
    if (known) return known
    const door = openDoor(snapshot)
    doors.set(snapshot, door)
    return door
  }
}

/** Names are without number where a catch-all takes them, so what is kept is kept by the terms of the policies. */
function openDoor({ settings, termsOf }: Snapshot): Door {
  const { path, tokens } = settings.hooks
  const ofAll: TokenList = { place: 'hooks.token', matches: createSecretMatcher(tokens) }
  const plain: Entrance = { auth: 'token', findToken: (given) => findIn([ofAll], given) }
  const lists = new WeakMap<object, TokenList>()
  const entrances = new WeakMap<Terms, Entrance>()

  function listOf(term: NonNullable<Terms['token']>): TokenList {
    const known = lists.get(term)
    if (known) return known
    const list = { place: placeOfTerm('token', term), matches: createSecretMatcher(term.value) }
    lists.set(term, list)
    return list
  }

  function entranceFor(terms: Terms): Entrance {
    const { verify, rate, token } = terms
    const all = token === undefined ? [ofAll] : [listOf(token), ofAll]
    return {
      auth: authOf(terms),
      rate,
      verify,
      findToken: (given) => findIn(all, given),
    }
  }

  return {
    prefix: prefixOf(path),
    entranceOf(endpoint) {
      const terms = endpoint === undefined ? undefined : termsOf(endpoint)
      if (terms === undefined) return plain
      const known = entrances.get(terms)
      if (known) return known
      const entrance = entranceFor(terms)
      entrances.set(terms, entrance)
      return entrance
    },
  }
}

/** Of several places the newest: it is no old token there. Every list is asked, whatever was found before. */
function findIn(lists: readonly TokenList[], given: string): FoundToken | undefined {
  let found: FoundToken | undefined
  for (const { place, matches } of lists) {
    const index = matches(given)
    if (index !== undefined && (found === undefined || index < found.index)) found = { list: place, index }
  }
  return found
}
