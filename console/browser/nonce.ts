/** The nonce of this page's content security policy, for libraries that add style sheets while they run. */

export const nonce: string = document.querySelector<HTMLScriptElement>('script[nonce]')?.nonce ?? ''
