/** What each attribute is for, in English. */
import type { AttributeOf, CollectionName, InputOf } from '../api/types.ts';

/** Every attribute that forms show: those of requests, and those that only the server sets. */
type HelpKey = {
  [N in CollectionName]: `help.${N}.${Exclude<InputOf<N>, 'goods_id'>}` | `help.${N}.id`;
}[CollectionName];

/** Attributes that only the server sets have help if they are shown. */
type FactKey = { [N in CollectionName]: `help.${N}.${AttributeOf<N>}` }[CollectionName];

export const helpEn = {
  'help.books.name': 'The title of the book.',
  'help.books.pub_date': 'The day on which it was published.',
  'help.books.commentcount': 'Comments of readers. They cannot be changed here.',
  'help.books.readcount': 'How often it was opened. It cannot be changed here.',
  'help.books.image': 'The address of the cover. It cannot be changed here.',
  'help.books.id': 'The number of the book in the API.',
  'help.goods.name': 'The name of the product, without colour, size and the like.',
  'help.goods.brand_id': 'Who makes it. A brand that is missing can be created here.',
  'help.goods.category1_id': 'The first level of the category tree.',
  'help.goods.category2_id':
    'The second level, below category 1. Choosing it fills in the level above.',
  'help.goods.category3_id':
    'The third level, below category 2. Choosing it fills in the levels above.',
  'help.goods.desc_detail': 'The description on the pages of the product and of its SKUs.',
  'help.goods.desc_pack': 'What is in the box.',
  'help.goods.desc_service': 'Warranty, returns and repairs.',
  'help.goods.sales': 'Pieces sold so far, of all its SKUs. They cannot be changed here.',
  'help.goods.comments': 'Comments of customers. They cannot be changed here.',
  'help.goods.id': 'The number of the SPU in the API and in the address of its page.',
  'help.skus.name': 'The full name, with what tells it from its sisters, such as colour and size.',
  'help.skus.spu_id': 'The product that this is one version of.',
  'help.skus.caption': 'One line below the name on the page. It may be empty.',
  'help.skus.category_id': 'Where the shop lists it: a category of the third level.',
  'help.skus.price': 'What a customer pays for one piece.',
  'help.skus.cost_price': 'What the shop pays for one piece. No page shows it.',
  'help.skus.market_price':
    'The usual price. The page shows it crossed out if it is higher than the price.',
  'help.skus.stock': 'Pieces that can be sold now.',
  'help.skus.is_launched': 'The page of a SKU that is off sale shows neither price nor stock.',
  'help.skus.specs': 'One option of each specification of the SPU.',
  'help.skus.code': 'The shop’s own article number. Each is given to one SKU.',
  'help.skus.sales': 'Pieces sold so far. They cannot be changed here.',
  'help.skus.id': 'The number of the SKU in the API and in the address of its page.',
  'help.brands.name': 'As customers know it.',
  'help.brands.logo':
    'The address of a picture. Pages show it if it begins with https: or with one slash. It may be empty.',
  'help.brands.first_letter': 'A letter for lists of brands. The pages of the shop do not show it.',
  'help.brands.id': 'The number of the brand in the API.',
  'help.categories.name': 'As the shop’s navigation shows it.',
  'help.categories.parent_id':
    'The category above this one; none on the first of the three levels.',
  'help.categories.id': 'The number of the category in the API and in the address of its page.',
  'help.specs.name': 'What SKUs of one SPU differ in, such as colour or storage.',
  'help.specs.spu_id': 'The product whose SKUs differ in it.',
  'help.specs.id': 'The number of the specification in the API.',
  'help.options.value': 'One choice of the specification, such as silver or 128 GB.',
  'help.options.spec_id': 'The specification that this is a choice of.',
  'help.options.id': 'The number of the option in the API.',
} as const satisfies Readonly<Record<HelpKey, string> & Partial<Record<FactKey, string>>>;
