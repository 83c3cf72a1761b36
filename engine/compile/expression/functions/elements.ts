/** Owns checking in turns that a list holds one kind of value: the library's signatures check half a million at once. */

import { type Focus, turnOf } from '../library.ts'

/** Elements that are handled between two looks at the clock. */
const batch = 4_096

const kinds = {
  numbers: (value: unknown) => typeof value === 'number',
  strings: (value: unknown) => typeof value === 'string',
  objects: (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value),
}

/** Gives each element to `take`. @throws `T0412`, the library's, where one is of another kind */
export async function takeEach(
  focus: Focus,
  list: readonly unknown[],
  kind: keyof typeof kinds,
  take: (element: never) => void,
): Promise<void> {
  const turn = turnOf(focus)
  const isKind = kinds[kind]
  let count = 0
  for (const element of list) {
    if (!isKind(element)) {
      throw { code: 'T0412', value: list.length === 1 ? element : list, index: 1, type: kind }
    }
    take(element as never)
    count += 1
    if (count % batch === 0) await turn()
  }
}
