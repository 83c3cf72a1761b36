/** Owns the one way in which a configuration cannot be edited. */

/** The file is not what an entry can be added to: it is broken, has that entry, or is written in a way that forbids it. */
export class NotAddable extends Error {
  override readonly name = 'NotAddable'
}
