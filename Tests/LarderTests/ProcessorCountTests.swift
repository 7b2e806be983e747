import Testing

@testable import Larder

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
