/** The good pager, in a package whose schema takes any text for an address. */

export { default } from '../pager/index.ts'
