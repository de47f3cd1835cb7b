//! What a build leaves behind when it does not come to its end, and what it keeps when it does: the
//! replaced build stays whole until the new one is committed.

#[path = "durability/all.rs"]
mod all;
#[path = "durability/crash.rs"]
mod crash;
#[path = "durability/curated.rs"]
mod curated;
#[path = "durability/interrupt.rs"]
mod interrupt;
#[path = "durability/retention.rs"]
mod retention;
#[path = "durability/scene.rs"]
mod scene;
#[path = "durability/transaction.rs"]
mod transaction;
#[path = "durability/unchanged.rs"]
mod unchanged;
#[path = "durability/write.rs"]
mod write;
