import Foundation
import Logging
import Testing

@testable import Larder

/// Where glibc takes memory from.
struct LargeBlocksTests {
    /// In a process of its own: memory that other tests have freed in the heap of this one may serve any block.
    @Test("TRUST-19 large blocks are mapped by themselves also after larger ones were freed; small ones are not")
    func mapped() async {
        await #expect(processExitsWith: .success) {
            #expect(LargeBlocks.giveBack())
            for _ in 0..<2 {
                #expect(isMapped(31 << 20))
                #expect(isMapped(16 << 20))
                #expect(!isMapped(64 << 10))
            }
        }
    }

    @Test("the memory of a freed piece of a body serves the next one without the system")
    func kept() async {
        await #expect(processExitsWith: .success) {
            #expect(LargeBlocks.giveBack())
            touch(256 << 10)
            let before = pageFaults()
            for _ in 0..<100 { touch(256 << 10) }
            // Given back and taken again, each piece has 64.
            #expect(pageFaults() - before < 640)
        }
    }
}

/// Takes a block, writes to each of its pages, and frees it.
private func touch(_ bytes: Int) {
    let block = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: 16)
    for page in stride(from: 0, to: bytes, by: 4096) { block.storeBytes(of: 1, toByteOffset: page, as: UInt8.self) }
    block.deallocate()
}

/// Returns how often this thread has got a page from the system.
private func pageFaults() -> Int {
    // RUSAGE_THREAD, which glibc declares with _GNU_SOURCE only.
    let thread: Int32 = 1
    var usage = rusage()
    getrusage(thread, &usage)
    return usage.ru_minflt
}

/// Returns whether the allocator maps a block of this size separately, so that it is returned to the system when it is
/// freed. The second bit of the word before the block tells this (malloc.c, `IS_MMAPPED`).
private func isMapped(_ bytes: Int) -> Bool {
    let block = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: 16)
    defer { block.deallocate() }
    return block.load(fromByteOffset: -8, as: UInt.self) & 2 != 0
}

/// How many clients a limit of open files leaves room for.
struct OpenFileLimitTests {
    @Test(
        "TRUST-09 clients cannot take all descriptors: 128, or three quarters of few, are for everything else",
        arguments: [
            (1024, 1_048_576, 1024), (1024, 1024, 896), (1024, 256, 128), (1024, 128, 32), (1024, 40, 10),
            (50, 256, 50), (100, 2, 1),
        ]
    )
    func connections(wanted: Int, files: Int, expected: Int) {
        #expect(OpenFileLimit.connections(wanted, files: files) == expected)
    }

    @Test("without a limit, all that are wanted")
    func unlimited() {
        #expect(OpenFileLimit.connections(1024, files: nil) == 1024)
        #expect(OpenFileLimit.connections(1024, files: .max) == 1024)
    }
}

@Suite struct ProcessorCountTests {
    @Test(
        "The mask of the process counts, whatever its length",
        arguments: [
            ("1", 1), ("3", 2), ("8", 1), ("ff", 8), ("00000000,00000000,0000000f", 4), ("ffffffff,ffffffff", 64),
        ]
    )
    func masks(mask: String, count: Int) {
        #expect(
            ProcessorCount.allowed(
                in: "Name:\tlarder\nCpus_allowed:\t\(mask)\nCpus_allowed_list:\t0-9\nMems_allowed:\t00000000,00000001\n"
            ) == count
        )
    }

    @Test("Without a mask nothing is said", arguments: ["", "Cpus_allowed_list:\t0-3\n", "Cpus_allowed:\t0\n"])
    func none(status: String) {
        #expect(ProcessorCount.allowed(in: status) == nil)
    }

    @Test("This process may use some, and no more than the machine has")
    func here() {
        #expect((1...4096).contains(ProcessorCount.available))
    }
}

@Suite(.timeLimit(.minutes(10))) struct StopDeadlineTests {
    @Test("SRV-03 A process whose work ignores its cancellation ends in order, and says so")
    func ends() async {
        let (ended, source) = AsyncStream.makeStream(of: String.self)
        let logger = Logger(label: "test") { label in
            LarderLogHandler(label: label, format: .text, level: .info) { source.yield($0) }
        }
        StopDeadline(timeout: .milliseconds(1), logger: logger, end: { source.finish() }).begin()
        var lines: [String] = []
        for await line in ended { lines.append(line) }
        #expect(lines.count == 1 && lines[0].contains("the process ends without it"))
    }
}
