/** Which screen an address shows. All but the lists are loaded when they are needed. */
import type { ComponentType } from 'preact';
import { Route, Router, Switch } from 'wouter-preact';
import { collectionNamed } from './api/collections.ts';
import { isAdmin, mayWrite } from './api/session.ts';
import { ListScreen } from './lists/list-screen.tsx';
import { navigate, path } from './location.ts';
import { t } from './messages/text.ts';
import { later } from './parts/later.tsx';
import { useTitle } from './parts/title.ts';
import { moreScreens } from './load-screens.ts';

const AccountScreen = later(async () => (await moreScreens()).AccountScreen);
const AuditScreen = later(async () => (await moreScreens()).AuditScreen);
const HomeScreen = later(async () => (await moreScreens()).HomeScreen);
const ImportScreen = later(async () => (await moreScreens()).ImportScreen);
const ItemScreen = later(async () => (await moreScreens()).ItemScreen);

/** The location that the router matches. */
function useConsoleLocation(): [string, (to: string) => void] {
  return [path.value, (to) => void navigate(to)];
}

/** A screen that the role of the user does not allow is shown as one that does not exist. */
export function Screens() {
  return (
    <Router hook={useConsoleLocation}>
      <Switch>
        <Route path="/">
          <HomeScreen />
        </Route>
        <Route path="/import">{allowed(mayWrite.value, ImportScreen)}</Route>
        <Route path="/audits">{allowed(isAdmin.value, AuditScreen)}</Route>
        <Route path="/accounts">{allowed(isAdmin.value, AccountScreen)}</Route>
        <Route path="/:collection">
          {({ collection }: { collection: string }) => <List name={collection} />}
        </Route>
        <Route path="/:collection/:id">
          {({ collection, id }: { collection: string; id: string }) => (
            <Single name={collection} id={id} />
          )}
        </Route>
        <Route>
          <NotFound />
        </Route>
      </Switch>
    </Router>
  );
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
  return (
    <ItemScreen
      key={`${name}/${id}`}
      collection={collection}
      id={id === 'new' ? null : Number(id)}
    />
  );
}

function NotFound() {
  const title = t('error.noScreen');
  useTitle(title);
  return (
    <>
      <h1>{title}</h1>
      <p>{t('error.noScreenHelp')}</p>
    </>
  );
}
