-- Who holds the lease ($1, $2), and a hint. A prepared transaction has no process, but it also holds the lock on its own
-- transaction ID.
SELECT CASE
           WHEN p.gid IS NULL THEN
               format('Process %s holds it, in a transaction that began at %s.', l.pid, a.xact_start)
           ELSE
               format('The prepared transaction %s holds it, since %s.', quote_literal(p.gid), p.prepared)
       END,
       CASE
           WHEN p.gid IS NULL THEN
               'Try again when that transaction has ended.'
           ELSE
               format('Run COMMIT PREPARED or ROLLBACK PREPARED %s in database %I.', quote_literal(p.gid), p.database)
       END
FROM pg_locks l
LEFT JOIN pg_stat_activity a ON a.pid = l.pid
LEFT JOIN pg_locks x ON l.pid IS NULL AND x.pid IS NULL AND x.locktype = 'transactionid'
                    AND x.virtualtransaction = l.virtualtransaction
LEFT JOIN pg_prepared_xacts p ON p.transaction = x.transactionid
WHERE l.locktype = 'advisory' AND l.granted
  AND l.classid = $1::bigint::oid AND l.objid = $2::bigint::oid AND l.objsubid = 2
  AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND (a.pid IS NOT NULL OR p.gid IS NOT NULL)
