package import Foundation
import GRDB

/// The time by which the data of users expires: the clock's, unless the clock has jumped ahead.
///
/// Sessions, drafts and the trash are removed when their time is over. A clock that is wrong for one start must not
/// remove them, so the database records the time while Larder runs. A reading far ahead of the record is believed only
/// after the clock has run on from there for a day; until then the recorded time holds. A server that was off for
/// longer removes expired data a day later, which does no harm.
package struct RetentionTime: Sendable, Equatable {
    /// How far ahead of the record a reading is believed at once.
    static let tolerance: TimeInterval = 86_400
    /// How long the clock has to run on after a jump.
    static let trial: TimeInterval = 86_400
    /// The longest time between two readings of one trial: a server that runs for an hour a week ends its trial, too.
    static let longestPause: TimeInterval = 30 * 86_400
    /// How far a reading has to be from the record to be recorded.
    static let resolution: TimeInterval = 3600

    /// Readings after a jump.
    struct Trial: Sendable, Equatable {
        var first: Date
        var last: Date
    }

    /// The last time that was believed.
    private(set) var recorded: Date
    /// The readings that are not believed yet; nil without a jump.
    private(set) var trial: Trial?

    /// Whether a jump of the clock is not believed yet.
    package var isOutcomeUnknown: Bool { trial != nil }

    /// Returns the time by which data expires when the clock shows `now`.
    package func time(at now: Date) -> Date { isOutcomeUnknown ? min(now, recorded) : now }

    /// Takes a reading of the clock.
    mutating func observe(_ now: Date) {
        if now.timeIntervalSince(recorded) <= Self.tolerance {
            // The clock was set back: it is right now, or was right before. With the later time nothing expires sooner.
            (recorded, trial) = (max(recorded, now), nil)
        } else if let trial, (0...Self.longestPause).contains(now.timeIntervalSince(trial.last)) {
            self.trial?.last = now
            if now.timeIntervalSince(trial.first) >= Self.trial { (recorded, self.trial) = (now, nil) }
        } else {
            trial = Trial(first: now, last: now)
        }
    }

    static let migrations = [
        SchemaMigration(
            "storage/011 retention time",
            sql: """
                CREATE TABLE retention_time (
                    one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
                    recorded INTEGER NOT NULL,      -- the last time that was believed
                    trial_first INTEGER,            -- after a jump of the clock: the first and the last reading
                    trial_last INTEGER
                ) STRICT;
                """
        )
    ]
}

extension LarderDatabase {
    /// Takes a reading of the clock, and records it if it is far enough from the record.
    package func observe(_ now: Date) throws -> RetentionTime {
        let record = try read { try RetentionTime.Record.fetchOne($0) }
        let before = record?.time ?? RetentionTime(recorded: now)
        var time = before
        time.observe(now)
        let age = time.recorded.timeIntervalSince(before.recorded)
        if record == nil || time.trial != before.trial || age >= RetentionTime.resolution {
            let changed = RetentionTime.Record(time)
            try write { try changed.upsert($0) }
        }
        return time
    }
}

extension RetentionTime {
    fileprivate struct Record: Codable, FetchableRecord, PersistableRecord {
        static let databaseTableName = "retention_time"

        var one = 1
        let recorded: Int64
        let trialFirst: Int64?
        let trialLast: Int64?

        private enum CodingKeys: String, CodingKey {
            case one, recorded
            case trialFirst = "trial_first"
            case trialLast = "trial_last"
        }

        init(_ time: RetentionTime) {
            recorded = time.recorded.millisecondsSince1970
            trialFirst = time.trial?.first.millisecondsSince1970
            trialLast = time.trial?.last.millisecondsSince1970
        }

        var time: RetentionTime {
            var trial: Trial?
            if let trialFirst, let trialLast {
                trial = Trial(
                    first: Date(millisecondsSince1970: trialFirst),
                    last: Date(millisecondsSince1970: trialLast)
                )
            }
            return RetentionTime(recorded: Date(millisecondsSince1970: recorded), trial: trial)
        }
    }
}
