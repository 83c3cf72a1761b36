/** The error of an expression that does not compile. */

import { LocatedError } from '../../config/values/located-error.ts'

/** Thrown for an expression that does not parse or may not be used. `offset` is in UTF-16 units of the field's text. */
export class ExpressionSyntaxError extends LocatedError {}
