/** The correct pager, in a package whose schema accepts any text as an address. */

export { default } from '../pager/index.ts'
