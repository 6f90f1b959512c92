/** Which screen an address shows. All but the lists are loaded when they are needed. */
import type { ComponentType } from 'preact';
import { collectionNamed } from './api/collections.ts';
import { isAdmin, mayWrite } from './api/session.ts';
import { ListScreen } from './lists/list-screen.tsx';
import { path } from './location.ts';
import { t } from './messages/text.ts';
import { later } from './parts/later.tsx';
import { useTitle } from './parts/title.ts';
import { moreScreens } from './load-screens.ts';

const AccountScreen = later(async () => (await moreScreens()).AccountScreen);
const AuditScreen = later(async () => (await moreScreens()).AuditScreen);
const HomeScreen = later(async () => (await moreScreens()).HomeScreen);
const ImportScreen = later(async () => (await moreScreens()).ImportScreen);
const ItemScreen = later(async () => (await moreScreens()).ItemScreen);

/** A screen that the role of the user does not allow is shown as one that does not exist. */
export function Screens() {
  const [, name = '', id, ...rest] = path.value.split('/');
  if (rest.length > 0) return <NotFound />;
  if (id !== undefined) return <Single name={name} id={id} />;
  switch (name) {
    case '':
      return <HomeScreen />;
    case 'import':
      return allowed(mayWrite.value, ImportScreen);
    case 'audits':
      return allowed(isAdmin.value, AuditScreen);
    case 'accounts':
      return allowed(isAdmin.value, AccountScreen);
    default:
      return <List name={name} />;
  }
}

function allowed(may: boolean, Screen: ComponentType) {
  return may ? <Screen /> : <NotFound />;
}

function List({ name }: { readonly name: string }) {
  const collection = collectionNamed(name);
  return collection === undefined ? (
    <NotFound />
  ) : (
    <ListScreen key={name} collection={collection} />
  );
}

function Single({ name, id }: { readonly name: string; readonly id: string }) {
  const collection = collectionNamed(name);
  const known = id === 'new' ? mayWrite.value : /^\d{1,15}$/.test(id);
  if (collection === undefined || !known) return <NotFound />;
  return <ItemScreen collection={collection} id={id === 'new' ? null : Number(id)} />;
}

function NotFound() {
  const title = t('error.noScreen');
  useTitle(title);
  return (
    <>
      <div class="heading">
        <h1>{title}</h1>
      </div>
      <p>{t('error.noScreenHelp')}</p>
    </>
  );
}
