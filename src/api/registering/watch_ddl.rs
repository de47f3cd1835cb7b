//! `nl2sql_watch_ddl` and `nl2sql_unwatch_ddl`.

use crate::pg::datasource::ddl_watch;
use crate::pg::server::error::OrRaise;
use crate::pg::server::identity;
use pgrx::prelude::*;

#[pg_extern]
fn nl2sql_watch_ddl() -> bool {
    switch("nl2sql_watch_ddl()", true)
}

#[pg_extern]
fn nl2sql_unwatch_ddl() -> bool {
    switch("nl2sql_unwatch_ddl()", false)
}

fn switch(command: &str, on: bool) -> bool {
    identity::check_writable(command);
    identity::as_owner(|owner| ddl_watch::watch(owner, on)).or_raise()
}
