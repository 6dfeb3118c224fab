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
 * A catalog as it would be after a script: what the script creates, alters and drops stays in
 * memory, over what is really there. To ask for lineage must change nothing.
 */
final class CatalogOverlay extends GenericInMemoryCatalog {
  private final Catalog real;
  private final Set<ObjectPath> droppedTables = new HashSet<>();
  private final Set<String> droppedDatabases = new HashSet<>();

  CatalogOverlay(final String name, final Catalog real) {
    super(name, real.getDefaultDatabase());
    this.real = real;
  }

  /** The catalog under it. */
  Catalog real() {
    return real;
  }

  @Override
  public void open() {
    super.open();
    real.open();
  }

  @Override
  public void close() {
    real.close();
    super.close();
  }

  @Override
  public Optional<Factory> getFactory() {
    return real.getFactory();
  }

  @Override
  public boolean databaseExists(final String name) {
    return super.databaseExists(name) || isReal(name);
  }

  @Override
  public CatalogDatabase getDatabase(final String name) throws DatabaseNotExistException {
    return super.databaseExists(name) || !isReal(name)
        ? super.getDatabase(name)
        : real.getDatabase(name);
  }

  @Override
  public List<String> listDatabases() {
    final Stream<String> below = real.listDatabases().stream().filter(this::isReal);
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
    final boolean wasReal = isReal(name);
    if (wasReal && !cascade && !listTables(name).isEmpty()) {
      throw new DatabaseNotEmptyException(getName(), name);
    }
    droppedDatabases.add(name);
    super.dropDatabase(name, ignoreIfNotExists || wasReal, cascade);
  }

  @Override
  public boolean tableExists(final ObjectPath path) {
    return super.tableExists(path) || isReal(path);
  }

  @Override
  public CatalogBaseTable getTable(final ObjectPath path) throws TableNotExistException {
    return super.tableExists(path) || !isReal(path) ? super.getTable(path) : real.getTable(path);
  }

  @Override
  public List<String> listTables(final String database) throws DatabaseNotExistException {
    final Stream<String> own =
        super.databaseExists(database) ? super.listTables(database).stream() : Stream.empty();
    final Stream<String> below =
        isReal(database)
            ? real.listTables(database).stream()
                .filter(table -> isReal(new ObjectPath(database, table)))
            : Stream.empty();
    return Stream.concat(own, below).distinct().toList();
  }

  @Override
  public void createTable(
      final ObjectPath path, final CatalogBaseTable table, final boolean ignoreIfExists)
      throws TableAlreadyExistException, DatabaseNotExistException {
    if (isReal(path)) {
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
    final boolean wasReal = isReal(path);
    droppedTables.add(path);
    super.dropTable(path, ignoreIfNotExists || wasReal);
  }

  @Override
  public void renameTable(final ObjectPath path, final String name, final boolean ignoreIfNotExists)
      throws TableNotExistException, TableAlreadyExistException {
    takeOver(path);
    super.renameTable(path, name, ignoreIfNotExists);
  }

  @Override
  public void alterTable(
      final ObjectPath path, final CatalogBaseTable table, final boolean ignoreIfNotExists)
      throws TableNotExistException {
    takeOver(path);
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

  /** From now on the table is the script's own. */
  private void takeOver(final ObjectPath path) throws TableNotExistException {
    if (!super.tableExists(path) && isReal(path)) {
      final CatalogBaseTable table = real.getTable(path);
      droppedTables.add(path);
      try {
        super.createTable(path, table, true);
      } catch (TableAlreadyExistException | DatabaseNotExistException failure) {
        throw new IllegalStateException("A table that was just looked up: " + path, failure);
      }
    }
  }

  private boolean isReal(final String database) {
    return !droppedDatabases.contains(database) && real.databaseExists(database);
  }

  private boolean isReal(final ObjectPath path) {
    return isReal(path.getDatabaseName())
        && !droppedTables.contains(path)
        && real.tableExists(path);
  }
}
