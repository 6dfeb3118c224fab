// SPDX-License-Identifier: Apache-2.0

import org.apache.hadoop.hive.metastore.HiveMetaStore;
import org.apache.hadoop.hive.metastore.conf.MetastoreConf;
import org.apache.hadoop.hive.metastore.txn.TxnDbUtil;

/** A metastore whose embedded database also has the tables of locks, which it does not make by itself. */
class Metastore {
  public static void main(String[] arguments) throws Throwable {
    TxnDbUtil.prepDb(MetastoreConf.newMetastoreConf());
    HiveMetaStore.main(arguments);
  }
}
