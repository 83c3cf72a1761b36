/** The correct pager, in a package whose schema does not mark the credential. */

export { default } from '../pager/index.ts'
