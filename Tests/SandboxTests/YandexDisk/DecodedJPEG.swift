import Testing

/// A baseline JPEG read back by the tables that it carries: the means of its blocks. Knows nothing of the encoder.
struct DecodedJPEG {
    private(set) var width = 0
    private(set) var height = 0
    /// Y, Cb, Cr of each block, row by row.
    private(set) var blocks: [[Int]] = []

    private var codes: [UInt8: [String: UInt8]] = [:]
    private var quantizer = 0

    init(_ bytes: [UInt8]) throws {
        try #require(bytes.prefix(2) == [0xFF, 0xD8] && bytes.suffix(2) == [0xFF, 0xD9])
        var position = 2
        while true {
            try #require(bytes[position] == 0xFF)
            let marker = bytes[position + 1]
            let length = Int(bytes[position + 2]) << 8 | Int(bytes[position + 3])
            let content = Array(bytes[position + 4..<position + 2 + length])
            position += 2 + length
            switch marker {
            case 0xC0:
                try #require(content[0] == 8 && content[5] == 3)
                height = Int(content[1]) << 8 | Int(content[2])
                width = Int(content[3]) << 8 | Int(content[4])
            case 0xC4: readCodes(content)
            case 0xDB: quantizer = Int(content[1])
            case 0xDA:
                try readScan(Array(bytes[position..<bytes.count - 2]))
                return
            default: continue
            }
        }
    }

    private mutating func readCodes(_ content: [UInt8]) {
        var table: [String: UInt8] = [:]
        var code = 0
        var next = 17
        for length in 1...16 {
            for _ in 0..<content[length] {
                let digits = String(code, radix: 2)
                table[String(repeating: "0", count: length - digits.count) + digits] = content[next]
                next += 1
                code += 1
            }
            code <<= 1
        }
        codes[content[0]] = table
    }

    private mutating func readScan(_ scan: [UInt8]) throws {
        var bits: [Character] = []
        for (index, byte) in scan.enumerated() where !(byte == 0 && index > 0 && scan[index - 1] == 0xFF) {
            let digits = String(byte, radix: 2)
            bits += String(repeating: "0", count: 8 - digits.count) + digits
        }
        var position = 0
        func symbol(_ table: [String: UInt8]) throws -> Int {
            var code = ""
            while code.count <= 16 {
                code.append(bits[position])
                position += 1
                if let value = table[code] { return Int(value) }
            }
            throw NoSuchCode()
        }
        var means = [0, 0, 0]
        for _ in 0..<(width + 7) / 8 * ((height + 7) / 8) {
            for component in 0..<3 {
                let size = try symbol(codes[0x00] ?? [:])
                if size > 0 {
                    let value = Int(String(bits[position..<position + size]), radix: 2) ?? 0
                    position += size
                    means[component] += (value >> (size - 1) == 1 ? value : value - (1 << size) + 1) * quantizer / 8
                }
                try #require(try symbol(codes[0x10] ?? [:]) == 0, "the end of the block")
            }
            blocks.append(means.map { $0 + 128 })
        }
        #expect(bits.count - position < 8 && bits[position...].allSatisfy { $0 == "1" }, "padded with ones")
    }

    private struct NoSuchCode: Error {}
}
