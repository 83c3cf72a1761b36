/** The good pager, in a package whose schema does not say what is a credential. */

export { default } from '../pager/index.ts'
