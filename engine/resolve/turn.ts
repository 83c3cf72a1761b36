/** Owns where this pass finds turns. */

export { nextTurn, takeTurn } from '../config/turn.ts'
