//! The functions that a statement must not call, by name: the server's, and those of the extensions that it comes with.
//! tests/database/sql/functions.rs holds the lists to what a server has.
//!
//! What may be called although it is VOLATILE is what makes a value up: `random`, `clock_timestamp`, `gen_random_uuid`.
//! What may be called although it reads a catalog is what tells of definitions and rights (`pg_get_viewdef`, `to_regclass`,
//! `has_table_privilege`, `obj_description`), and what a session knows of itself (`version`, `current_setting`).

/// Sets of which a later version of the server may have more, and of which nothing else is a part.
const PREFIXES: &[&str] = &[
    // What changes something, locks or waits.
    "binary_upgrade_",
    "pg_advisory_",
    "pg_try_advisory_",
    "pg_sleep",
    "pg_backup_",
    "pg_wal_replay_",
    "pg_create_",
    "pg_copy_",
    "pg_clear_",
    "pg_restore_",
    "pg_log_",
    "pg_logical_",
    "pg_replication_",
    "nl2sql_",
    // What reads or writes files of the server.
    "pg_read_",
    "pg_ls_",
    "pg_file_",
    "pg_logdir_",
    "pg_wal_summary_",
    "pg_timezone_",
    // What runs SQL from a text, here or elsewhere.
    "query_to_xml",
    "table_to_xml",
    "schema_to_xml",
    "database_to_xml",
    "cursor_to_xml",
    "crosstab",
    "dblink",
    "postgres_fdw_",
    // What tells of the server: also of other sessions, of its WAL, of its memory.
    "pg_stat_",
    "pg_show_",
    "pg_control_",
    "pg_available_",
    "pg_last_",
    "pg_current_wal_",
    "pg_get_wal_",
    "pg_get_backend_",
    "pg_get_shmem_",
    "pg_get_logical_snapshot_",
    "pg_buffercache",
    "pg_visibility",
    "sepgsql_",
];

/// The server's own.
const BUILT_IN: &[&str] = &[
    // What changes something, if only the session, or wants to be known.
    "nextval",
    "setval",
    "set_config",
    "setseed",
    "pg_notify",
    "pg_nextoid",
    "pg_current_xact_id",
    "txid_current",
    "pg_export_snapshot",
    "pg_terminate_backend",
    "pg_cancel_backend",
    "pg_reload_conf",
    "pg_rotate_logfile",
    "pg_rotate_logfile_old",
    "pg_promote",
    "pg_switch_wal",
    "pg_start_backup",
    "pg_stop_backup",
    "pg_stop_making_pinned_objects",
    "pg_drop_replication_slot",
    "pg_sync_replication_slots",
    "pg_extension_config_dump",
    "pg_import_system_collations",
    "gin_clean_pending_list",
    "brin_summarize_new_values",
    "brin_summarize_range",
    "brin_desummarize_range",
    // Large objects, which are read by a number.
    "lo_close",
    "lo_creat",
    "lo_create",
    "lo_export",
    "lo_from_bytea",
    "lo_get",
    "lo_import",
    "lo_lseek",
    "lo_lseek64",
    "lo_open",
    "lo_put",
    "lo_tell",
    "lo_tell64",
    "lo_truncate",
    "lo_truncate64",
    "lo_unlink",
    "loread",
    "lowrite",
    // What runs a text, or a function's body as its language checks it.
    "ts_stat",
    "ts_rewrite",
    "fmgr_c_validator",
    "fmgr_internal_validator",
    "fmgr_sql_validator",
    "plpgsql_validator",
    "plperl_validator",
    "plperlu_validator",
    "plpython3_validator",
    // What reads a relation that is given by its name or number, or tells of its files.
    "currval",
    "lastval",
    "pg_sequence_last_value",
    "pg_get_sequence_data",
    "currtid",
    "currtid2",
    "pg_partition_tree",
    "pg_partition_ancestors",
    "pg_relation_size",
    "pg_table_size",
    "pg_indexes_size",
    "pg_total_relation_size",
    "pg_database_size",
    "pg_tablespace_size",
    "pg_tablespace_databases",
    "pg_tablespace_location",
    "pg_relation_filenode",
    "pg_relation_filepath",
    "pg_filenode_relation",
    "amvalidate",
    // What tells of the server: how it is configured and built, ...
    "pg_config",
    "pg_hba_file_rules",
    "pg_ident_file_mappings",
    "pg_current_logfile",
    "pg_conf_load_time",
    "pg_postmaster_start_time",
    "pg_is_in_recovery",
    "pg_is_wal_replay_paused",
    "pg_jit_available",
    "pg_numa_available",
    "pg_get_loaded_modules",
    "pg_extension_update_paths",
    "pg_collation_actual_version",
    "pg_database_collation_actual_version",
    // ... and what it and its sessions are at.
    "current_query",
    "pg_cursor",
    "pg_prepared_statement",
    "pg_prepared_xact",
    "pg_lock_status",
    "pg_blocking_pids",
    "pg_safe_snapshot_blocking_pids",
    "pg_isolation_test_session_is_blocked",
    "pg_listening_channels",
    "pg_notification_queue_usage",
    "pg_get_aios",
    "pg_get_wait_events",
    "pg_get_multixact_members",
    "pg_get_replication_slots",
    "pg_get_publication_tables",
    "pg_xact_status",
    "txid_status",
    "pg_xact_commit_timestamp",
    "pg_xact_commit_timestamp_origin",
];

/// Of the extensions that come with the server.
const OF_EXTENSIONS: &[&str] = &[
    // amcheck, pg_surgery, pg_visibility, pg_freespacemap, pgrowlocks, pgstattuple, old_snapshot
    "bt_index_check",
    "bt_index_parent_check",
    "gin_index_check",
    "verify_heapam",
    "heap_force_freeze",
    "heap_force_kill",
    "pg_check_frozen",
    "pg_check_visible",
    "pg_truncate_visibility_map",
    "pg_freespace",
    "pgrowlocks",
    "pgstattuple",
    "pgstattuple_approx",
    "pgstatindex",
    "pgstatginindex",
    "pgstathashindex",
    "pg_relpages",
    "pg_old_snapshot_time_mapping",
    // pageinspect
    "get_raw_page",
    "page_header",
    "page_checksum",
    "tuple_data_split",
    "fsm_page_contents",
    "heap_page_items",
    "heap_page_item_attrs",
    "heap_tuple_infomask_flags",
    "bt_metap",
    "bt_page_items",
    "bt_page_stats",
    "bt_multi_page_stats",
    "brin_metapage_info",
    "brin_page_items",
    "brin_page_type",
    "brin_revmap_data",
    "gin_leafpage_items",
    "gin_metapage_info",
    "gin_page_opaque_info",
    "gist_page_items",
    "gist_page_items_bytea",
    "gist_page_opaque_info",
    "hash_bitmap_info",
    "hash_metapage_info",
    "hash_page_items",
    "hash_page_stats",
    "hash_page_type",
    // pg_prewarm, file_fdw, tablefunc, xml2
    "pg_prewarm",
    "autoprewarm_start_worker",
    "autoprewarm_dump_now",
    "file_fdw_validator",
    "connectby",
    "xpath_table",
    // pg_trgm and isn, of which these set what the session works with
    "set_limit",
    "isn_weak",
];

/// Whether a function of the server's or of an extension that it comes with writes, locks, waits, reads files, tells of
/// the server, runs SQL from a text, or reads what it is given the name of. A function of anybody else's is not known.
pub(crate) fn does_more(name: &str) -> bool {
    [BUILT_IN, OF_EXTENSIONS].iter().any(|names| names.contains(&name))
        || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_name() {
        let more = [
            "lo_get",
            "pg_stat_get_activity",
            "pg_sleep_until",
            "crosstab4",
            "dblink_exec",
            "pg_log_standby_snapshot",
            "pgrowlocks",
        ];
        for name in more {
            assert!(does_more(name), "{name}");
        }
        let reads = [
            "lower",
            "lo_pass",
            "lo_oid",
            "pg_wal_lsn_diff",
            "pg_current_snapshot",
            "pg_statistics_obj_is_visible",
            "brin_cost",
        ];
        for name in reads.into_iter().chain([
            "random",
            "current_setting",
            "pg_visible_in_snapshot",
            "page_header_of",
            "heap_force_field",
        ]) {
            assert!(!does_more(name), "{name}");
        }
    }

    #[test]
    fn nothing_is_said_twice() {
        let names: Vec<&str> = [PREFIXES, BUILT_IN, OF_EXTENSIONS].concat();
        for (at, name) in names.iter().enumerate() {
            assert!(!names[at + 1..].contains(name), "{name}");
            assert!(PREFIXES.iter().all(|prefix| prefix == name || !name.starts_with(prefix)), "{name}");
        }
    }
}
