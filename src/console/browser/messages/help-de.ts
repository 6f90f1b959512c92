/** What each attribute is for, in German. */
import type { helpEn } from './help-en.ts';

export const helpDe: Readonly<Record<keyof typeof helpEn, string>> = {
  'help.books.name': 'Der Titel des Buchs.',
  'help.books.pub_date': 'Der Tag, an dem es erschienen ist.',
  'help.books.commentcount': 'Kommentare von Lesern. Sie sind hier nicht änderbar.',
  'help.books.readcount': 'Wie oft es geöffnet wurde. Hier nicht änderbar.',
  'help.books.image': 'Die Adresse des Umschlags. Hier nicht änderbar.',
  'help.books.id': 'Die Nummer des Buchs in der API.',
  'help.goods.name': 'Der Name des Produkts, ohne Farbe, Größe und Ähnliches.',
  'help.goods.brand_id': 'Wer es herstellt. Eine fehlende Marke kann hier angelegt werden.',
  'help.goods.category1_id': 'Die erste Ebene der Kategorien.',
  'help.goods.category2_id':
    'Die zweite Ebene, unter Kategorie 1. Ihre Wahl füllt die Ebene darüber aus.',
  'help.goods.category3_id':
    'Die dritte Ebene, unter Kategorie 2. Ihre Wahl füllt die Ebenen darüber aus.',
  'help.goods.desc_detail': 'Die Beschreibung auf den Seiten des Produkts und seiner SKUs.',
  'help.goods.desc_pack': 'Was in der Packung ist.',
  'help.goods.desc_service': 'Garantie, Rückgabe und Reparatur.',
  'help.goods.sales': 'Bisher verkaufte Stück aller SKUs. Sie sind hier nicht änderbar.',
  'help.goods.comments': 'Kommentare von Kunden. Sie sind hier nicht änderbar.',
  'help.goods.id': 'Die Nummer der SPU in der API und in der Adresse ihrer Seite.',
  'help.skus.name':
    'Der volle Name, mit dem, was sie von ihren Schwestern unterscheidet, etwa Farbe und Größe.',
  'help.skus.spu_id': 'Das Produkt, von dem dies eine Ausführung ist.',
  'help.skus.caption': 'Eine Zeile unter dem Namen auf der Seite. Sie darf leer sein.',
  'help.skus.category_id': 'Wo das Geschäft sie führt: eine Kategorie der dritten Ebene.',
  'help.skus.price': 'Was ein Kunde für ein Stück bezahlt.',
  'help.skus.cost_price': 'Was das Geschäft für ein Stück bezahlt. Keine Seite zeigt ihn.',
  'help.skus.market_price':
    'Der übliche Preis. Die Seite zeigt ihn durchgestrichen, wenn er höher als der Preis ist.',
  'help.skus.stock': 'Stück, die jetzt verkauft werden können.',
  'help.skus.is_launched':
    'Die Seite einer SKU, die nicht im Verkauf ist, zeigt weder Preis noch Bestand.',
  'help.skus.specs': 'Eine Ausprägung zu jedem Merkmal der SPU.',
  'help.skus.code': 'Die eigene Artikelnummer des Geschäfts. Jede gehört zu einer SKU.',
  'help.skus.sales': 'Bisher verkaufte Stück. Sie sind hier nicht änderbar.',
  'help.skus.id': 'Die Nummer der SKU in der API und in der Adresse ihrer Seite.',
  'help.brands.name': 'Wie Kunden sie kennen.',
  'help.brands.logo':
    'Die Adresse eines Bildes. Beginnt sie mit https: oder einem Schrägstrich, zeigen die Seiten das Bild. Sie darf leer sein.',
  'help.brands.first_letter':
    'Ein Buchstabe für Listen von Marken. Die Seiten des Geschäfts zeigen ihn nicht.',
  'help.brands.id': 'Die Nummer der Marke in der API.',
  'help.categories.name': 'Wie die Navigation des Geschäfts sie zeigt.',
  'help.categories.parent_id': 'Die Kategorie über dieser; keine auf der ersten der drei Ebenen.',
  'help.categories.id': 'Die Nummer der Kategorie in der API und in der Adresse ihrer Seite.',
  'help.specs.name': 'Worin sich SKUs einer SPU unterscheiden, etwa Farbe oder Speicher.',
  'help.specs.spu_id': 'Das Produkt, dessen SKUs sich darin unterscheiden.',
  'help.specs.id': 'Die Nummer des Merkmals in der API.',
  'help.options.value': 'Eine Wahl des Merkmals, etwa Silber oder 128 GB.',
  'help.options.spec_id': 'Das Merkmal, zu dem diese Wahl gehört.',
  'help.options.id': 'Die Nummer der Ausprägung in der API.',
};
