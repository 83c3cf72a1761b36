import { testLooks } from './looks.ts'

testLooks({ dark: 'colours' })
