# SPDX-License-Identifier: Apache-2.0
"""Log4j configuration of Spark's drivers and daemons."""

LOG4J2_PROPERTIES = """\
# SPDX-License-Identifier: Apache-2.0
rootLogger.level = warn
rootLogger.appenderRef.stderr.ref = stderr

appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %d{yyyy-MM-dd HH:mm:ss,SSS} %p %c{1} %m%n%ex{10}

# There is no native Hadoop library for what runs here, and none is needed.
logger.native.name = org.apache.hadoop.util.NativeCodeLoader
logger.native.level = error

# The agent looks for columns behind a Kafka source and warns at each event that there are none.
logger.columns.name = io.openlineage.spark.agent.lifecycle.plan.column
logger.columns.level = error
logger.columns3.name = io.openlineage.spark3.agent.lifecycle.plan.column
logger.columns3.level = error
"""
