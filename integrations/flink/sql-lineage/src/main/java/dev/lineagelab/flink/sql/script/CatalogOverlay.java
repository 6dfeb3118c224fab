// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.script;

import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.flink.table.catalog.Catalog;
import org.apache.flink.table.catalog.CatalogBaseTable;
import org.apache.flink.table.catalog.CatalogDatabase;
import org.apache.flink.table.catalog.GenericInMemoryCatalog;
import org.apache.flink.table.catalog.ObjectPath;
import org.apache.flink.table.catalog.TableChange;
import org.apache.flink.table.catalog.exceptions.DatabaseAlreadyExistException;
import org.apache.flink.table.catalog.exceptions.DatabaseNotEmptyException;
import org.apache.flink.table.catalog.exceptions.DatabaseNotExistException;
import org.apache.flink.table.catalog.exceptions.TableAlreadyExistException;
import org.apache.flink.table.catalog.exceptions.TableNotExistException;
import org.apache.flink.table.factories.Factory;

/**
 * In-memory overlay of a catalog. Objects that a script creates, alters or drops are changed in the
 * overlay only, so that analysing a script has no side effects.
 */
final class CatalogOverlay extends GenericInMemoryCatalog {
  private final Catalog underlying;
  private final Set<ObjectPath> droppedTables = new HashSet<>();
  private final Set<String> droppedDatabases = new HashSet<>();

  CatalogOverlay(final String name, final Catalog underlying) {
    super(name, underlying.getDefaultDatabase());
    this.underlying = underlying;
  }

  /** Returns the underlying catalog. */
  Catalog underlying() {
    return underlying;
  }

  @Override
  public void open() {
    super.open();
    underlying.open();
  }

  @Override
  public void close() {
    underlying.close();
    super.close();
  }

  @Override
  public Optional<Factory> getFactory() {
    return underlying.getFactory();
  }

  @Override
  public boolean databaseExists(final String name) {
    return super.databaseExists(name) || existsUnderneath(name);
  }

  @Override
  public CatalogDatabase getDatabase(final String name) throws DatabaseNotExistException {
    return super.databaseExists(name) || !existsUnderneath(name)
        ? super.getDatabase(name)
        : underlying.getDatabase(name);
  }

  @Override
  public List<String> listDatabases() {
    final Stream<String> below = underlying.listDatabases().stream().filter(this::existsUnderneath);
    return Stream.concat(super.listDatabases().stream(), below).distinct().toList();
  }

  @Override
  public void createDatabase(
      final String name, final CatalogDatabase database, final boolean ignoreIfExists)
      throws DatabaseAlreadyExistException {
    if (databaseExists(name)) {
      if (!ignoreIfExists) {
        throw new DatabaseAlreadyExistException(getName(), name);
      }
      return;
    }
    super.createDatabase(name, database, ignoreIfExists);
  }

  @Override
  public void dropDatabase(
      final String name, final boolean ignoreIfNotExists, final boolean cascade)
      throws DatabaseNotExistException, DatabaseNotEmptyException {
    final boolean wasUnderneath = existsUnderneath(name);
    if (wasUnderneath && !cascade && !listTables(name).isEmpty()) {
      throw new DatabaseNotEmptyException(getName(), name);
    }
    droppedDatabases.add(name);
    super.dropDatabase(name, ignoreIfNotExists || wasUnderneath, cascade);
  }

  @Override
  public boolean tableExists(final ObjectPath path) {
    return super.tableExists(path) || existsUnderneath(path);
  }

  @Override
  public CatalogBaseTable getTable(final ObjectPath path) throws TableNotExistException {
    return super.tableExists(path) || !existsUnderneath(path)
        ? super.getTable(path)
        : underlying.getTable(path);
  }

  @Override
  public List<String> listTables(final String database) throws DatabaseNotExistException {
    final Stream<String> own =
        super.databaseExists(database) ? super.listTables(database).stream() : Stream.empty();
    final Stream<String> below =
        existsUnderneath(database)
            ? underlying.listTables(database).stream()
                .filter(table -> existsUnderneath(new ObjectPath(database, table)))
            : Stream.empty();
    return Stream.concat(own, below).distinct().toList();
  }

  @Override
  public void createTable(
      final ObjectPath path, final CatalogBaseTable table, final boolean ignoreIfExists)
      throws TableAlreadyExistException, DatabaseNotExistException {
    if (existsUnderneath(path)) {
      if (!ignoreIfExists) {
        throw new TableAlreadyExistException(getName(), path);
      }
      return;
    }
    super.createTable(path, table, ignoreIfExists);
  }

  @Override
  public void dropTable(final ObjectPath path, final boolean ignoreIfNotExists)
      throws TableNotExistException {
    final boolean wasUnderneath = existsUnderneath(path);
    droppedTables.add(path);
    super.dropTable(path, ignoreIfNotExists || wasUnderneath);
  }

  @Override
  public void renameTable(final ObjectPath path, final String name, final boolean ignoreIfNotExists)
      throws TableNotExistException, TableAlreadyExistException {
    copyToOverlay(path);
    super.renameTable(path, name, ignoreIfNotExists);
  }

  @Override
  public void alterTable(
      final ObjectPath path, final CatalogBaseTable table, final boolean ignoreIfNotExists)
      throws TableNotExistException {
    copyToOverlay(path);
    super.alterTable(path, table, ignoreIfNotExists);
  }

  @Override
  public void alterTable(
      final ObjectPath path,
      final CatalogBaseTable table,
      final List<TableChange> changes,
      final boolean ignoreIfNotExists)
      throws TableNotExistException {
    alterTable(path, table, ignoreIfNotExists);
  }

  /** Copies a table into the overlay before it is changed. */
  private void copyToOverlay(final ObjectPath path) throws TableNotExistException {
    if (!super.tableExists(path) && existsUnderneath(path)) {
      final CatalogBaseTable table = underlying.getTable(path);
      droppedTables.add(path);
      try {
        super.createTable(path, table, true);
      } catch (TableAlreadyExistException | DatabaseNotExistException failure) {
        throw new IllegalStateException(
            "Cannot copy into the overlay a table that exists: " + path, failure);
      }
    }
  }

  private boolean existsUnderneath(final String database) {
    return !droppedDatabases.contains(database) && underlying.databaseExists(database);
  }

  private boolean existsUnderneath(final ObjectPath path) {
    return existsUnderneath(path.getDatabaseName())
        && !droppedTables.contains(path)
        && underlying.tableExists(path);
  }
}
