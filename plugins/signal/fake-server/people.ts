/** Owns who can be written to. */

export interface Person {
  readonly number: string
  readonly uuid: string
  readonly username?: string
  /** What befalls messages to this person. Default: they arrive. */
  readonly type?: string
}

/** The account that sends. */
export const ownNumber = '+41790000001'

export const people = {
  ada: { number: '+41791234567', uuid: '6f0b3c1e-8a41-4a6e-9d52-0c1f5b7e2a90', username: 'ada.01' },
  gone: {
    number: '+41791111111',
    uuid: '11111111-2222-4333-8444-555555555555',
    type: 'UNREGISTERED_FAILURE',
  },
  stranger: {
    number: '+41792222222',
    uuid: '22222222-2222-4333-8444-555555555555',
    type: 'IDENTITY_FAILURE',
  },
  offline: { number: '+41793333333', uuid: '33333333-2222-4333-8444-555555555555', type: 'NETWORK_FAILURE' },
} as const satisfies Record<string, Person>

const { ada, gone, stranger, offline } = people

/** Ids are 32 bytes in base64. */
export const groups = {
  crew: { id: 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=', members: [ada] },
  half: { id: '+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/s=', members: [ada, gone, offline] },
  lost: { id: 'ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=', members: [gone] },
} as const satisfies Record<string, { id: string; members: readonly Person[] }>

export function personOf(address: unknown): Person | undefined {
  return [ada, gone, stranger, offline].find((person: Person) =>
    [person.number, person.uuid, person.username].includes(String(address)),
  )
}

export function membersOf(id: unknown): readonly Person[] | undefined {
  return Object.values(groups).find((group) => group.id === id)?.members
}
