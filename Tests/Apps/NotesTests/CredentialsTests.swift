import Foundation
import GRDB
import Logging
import Screens
import Storage
import TestKit
import Testing

@testable import Notes

@Suite("User names")
struct UserNameTests {
    @Test("Names: trimmed, bounded, without control characters")
    func names() throws {
        #expect(try UserName(" Bob\n").shown == "Bob")
        #expect(throws: UserName.Fault.tooShort) { try UserName(" \t") }
        #expect(throws: UserName.Fault.invalid) { try UserName("a\u{2028}b") }
        #expect(throws: UserName.Fault.invalid) { try UserName(String(repeating: "a", count: 257)) }
        #expect(try UserName("ÅNGSTRÖM").key == UserName("a\u{30A}ngstro\u{308}m").key)
    }

    @Test(
        "NOTE-01 Names that differ in case, normal form or width only are one name (RFC 8265, UsernameCaseMapped)",
        arguments: [
            ("Σίσυφος", "ΣΊΣΥΦΟΣ"), ("Straße", "STRASSE"), ("straẞe", "strasse"), ("ａｂｃ", "abc"), ("ＡＢＣ", "abc"),
            ("ｶﾞ", "ガ"), ("ﬁnn", "FINN"), ("\u{130}z", "i\u{307}Z"), ("Å", "\u{212B}"), ("Zoe\u{308}", "ZOË"),
        ]
    )
    func folded(first: String, second: String) throws {
        #expect(try UserName(first).key == UserName(second).key)
    }

    @Test("NOTE-01 Names that differ otherwise are not one name", arguments: [("ı", "i"), ("a b", "ab"), ("e", "é")])
    func different(first: String, second: String) throws {
        #expect(try UserName(first).key != UserName(second).key)
    }

    @Test(
        "NOTE-01 A new name has visible characters only; a login accepts what was registered earlier",
        arguments: ["\u{200B}zero", "ze\u{200D}ro", "\u{FEFF}", "so\u{AD}ft", "a\u{202E}b", "\u{3164}", "a\u{E0001}"]
    )
    func invisible(name: String) throws {
        #expect(throws: UserName.Fault.invisible) { try UserName.registering(name) }
        #expect(throws: Never.self) { try UserName(name) }
    }

    @Test("NOTE-01 Accounts of an earlier version that would be one name stay apart and are found as they are spelt")
    func earlier() async throws {
        let (directory, log) = (try DataDirectory.temporary(), Logger(label: "test"))
        let earlier = try LarderDatabase.withCacheTables(
            in: directory,
            migrations: NoteStore.migrations.filter { $0.name < "notes/006" },
            logger: log
        )
        try await earlier.write { db in
            for (key, name) in [("straße", "Straße"), ("strasse", "Strasse"), ("ａ", "Ａ"), ("\u{200B}z", "\u{200B}z")] {
                try db.execute(
                    sql: """
                        INSERT INTO notes_account
                            (name_key, name, salt, rounds, block_size, parallelism, digest, created)
                        VALUES (?, ?, x'', 4, 8, 1, x'', 0)
                        """,
                    arguments: [key, name]
                )
            }
        }
        try earlier.close()
        let database = try LarderDatabase.withCacheTables(in: directory, migrations: NoteStore.migrations, logger: log)
        let store = NoteStore(database)
        for (login, found) in [
            ("STRASSE", "Strasse"), ("straße", "Straße"), ("a", "Ａ"), ("Ａ", "Ａ"), ("\u{200B}z", "\u{200B}z"),
        ] {
            #expect(try store.account(try UserName(login))?.name == found, "\(login)")
        }
        #expect(try store.account(try UserName("ｓtrasse")) == nil, "neither of the two is spelt like this")
        #expect(try store.isTaken(try UserName("ｓtrasse")))
        let hash = PasswordHash(salt: Data(), cost: .scrypt(logarithm: 2), digest: Data())
        #expect(try await store.register(try UserName.registering("a"), hash, now: Date()) == nil)
        #expect(try await store.register(try UserName.registering("b"), hash, now: Date())?.name == "b")
        try database.close()
    }
}

@Suite("Passwords")
struct PasswordTests {
    @Test(
        "Lengths and kinds of space",
        arguments: [
            ("a", true), ("", false), (String(repeating: "é", count: 512), true),
            (String(repeating: "é", count: 513), false),
        ]
    )
    func limits(text: String, isAccepted: Bool) {
        #expect(((try? Password(text)) != nil) == isAccepted)
    }

    @Test("A no-break space is a space, and nothing is trimmed")
    func spaces() throws {
        #expect(try Password("a\u{A0}b") == Password("a b"))
        #expect(try Password(" a") != Password("a"))
    }
}

@Suite("Hashes of passwords")
struct PasswordHashTests {
    @Test("NOTE-01 Scrypt is that of RFC 7914 §12")
    func vector() throws {
        let hash = try PasswordHash(
            of: try Password("pleaseletmein"),
            cost: .init(rounds: 16_384, blockSize: 8, parallelism: 1),
            salt: Data("SodiumChloride".utf8)
        )
        let hex = hash.digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        #expect(hex == "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2")
        #expect(try hash.matches(try Password("pleaseletmein")))
        #expect(try !hash.matches(try Password("pleaseletmeiN")))
    }

    @Test("NOTE-01 The default cost is the one that is documented: 32 MiB, three runs")
    func standard() {
        let cost = PasswordHash.Cost.scrypt(logarithm: NotesApp.scryptLogarithm.defaultValue)
        #expect(128 * cost.blockSize * cost.rounds == 32 << 20 && cost.parallelism == 3)
    }
}

@Suite("Hashing passwords")
struct PasswordHasherTests {
    @Test("NOTE-01 An unknown account costs the same work as a known one, and is never right")
    func unknown() async throws {
        let hasher = PasswordHasher(cost: .scrypt(logarithm: 2))
        #expect(try await hasher.verify(try Password("x"), against: nil) == false)
        let hash = try await hasher.hash(try Password("x"))
        #expect(try await hasher.verify(try Password("x"), against: hash))
    }

    @Test("NOTE-01 More concurrent hashings than may wait are refused; later ones succeed")
    func overload() async throws {
        let hasher = PasswordHasher(cost: .scrypt(logarithm: 2), maximumWaiting: 3)
        let outcomes = await withTaskGroup(of: Bool?.self) { group in
            for _ in 1...200 { group.addTask { try? await hasher.verify(Password("x"), against: nil) } }
            return await group.reduce(into: [Bool?]()) { $0.append($1) }
        }
        #expect(outcomes.contains(false) && outcomes.count == 200)
        // The places are free again.
        #expect(try await hasher.verify(try Password("x"), against: nil) == false)
    }

    @Test("TRUST-18 A password whose client is gone when its turn comes is neither compared nor hashed")
    func cancelled() async throws {
        let hasher = PasswordHasher(cost: .scrypt(logarithm: 2))
        let registration = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await hasher.hash(Password("x"))
        }
        await #expect(throws: CancellationError.self) { try await registration.value }
        let comparison = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await hasher.verify(Password("x"), against: nil)
        }
        await #expect(throws: CancellationError.self) { try await comparison.value }
        #expect(try await hasher.verify(Password("x"), against: nil) == false)
    }
}
