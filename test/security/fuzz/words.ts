/** Provides the pieces of hostile texts, and the random numbers that combine them. */

export interface Random {
  /** Returns an integer from 0 up to `count` - 1. */
  below(count: number): number
  chance(share: number): boolean
  pick<One>(list: readonly One[]): One
}

/** Returns the same numbers for the same seed. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  const below = (count: number) => Math.floor(next() * count)
  const pick = <One>(list: readonly One[]) => list[below(list.length)] as One
  return { below, pick, chance: (share) => next() < share }
}

/** Texts that have broken parsers. */
const pieces: readonly string[] = [
  ...['', ' ', '\t', "' OR 1=1--", '{% a %}'],
  ...'a A 0 -1 1e999 null true undefined NaN % %00 %2f %2e%2e %zz'.split(' '),
  ...'../ ..\\ ./ // / \\ ? # & = ; , : @ " \' ` < > {{a}}'.split(' '),
  ...'__proto__ constructor prototype toString hasOwnProperty valueOf then length token'.split(' '),
  ...'\u0080 \u00e9 \u00ff %c0%af %e2%80%ae %f0%9f%98%80 %ed%a0%80 ${HOME} $(id)'.split(' '),
]

export const piece = (random: Random): string => random.pick(pieces)

export function textOf(random: Random, most = 4): string {
  return Array.from({ length: random.below(most + 1) }, () => piece(random)).join('')
}

/** Returns a text that is mostly short, and sometimes as long as `most`. */
export function sizeOf(random: Random, most: number): number {
  return random.chance(0.9) ? random.below(16) : random.below(most)
}

export function chosen<Value>(random: Random, makers: readonly ((random: Random) => Value)[]): Value {
  return random.pick(makers)(random)
}

export function bytesOf(random: Random, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => random.below(256)))
}
