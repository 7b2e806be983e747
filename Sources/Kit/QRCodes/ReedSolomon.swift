/// Error correction by Reed and Solomon over GF(2^8) with the polynomial x^8 + x^4 + x^3 + x^2 + 1.
enum ReedSolomon {
    /// Returns the codewords that follow those of a block.
    static func correction(of data: some Sequence<UInt8>, count: Int) -> [UInt8] {
        let generator = generator(degree: count)
        var rest = [UInt8](repeating: 0, count: count)
        for byte in data {
            let factor = byte ^ rest.removeFirst()
            rest.append(0)
            for index in 0..<count { rest[index] ^= product(generator[index], factor) }
        }
        return rest
    }

    /// Returns the coefficients of the product of x - 2^i below its highest power, which has the factor 1.
    private static func generator(degree: Int) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: degree - 1) + [1]
        var root: UInt8 = 1
        for _ in 0..<degree {
            for index in 0..<degree {
                result[index] = product(result[index], root)
                if index + 1 < degree { result[index] ^= result[index + 1] }
            }
            root = product(root, 2)
        }
        return result
    }

    static func product(_ a: UInt8, _ b: UInt8) -> UInt8 {
        var result: UInt8 = 0
        for bit in stride(from: 7, through: 0, by: -1) {
            let carry: UInt8 = result & 0x80 == 0 ? 0 : 0x1D
            result = (result << 1) ^ carry
            if (b >> bit) & 1 == 1 { result ^= a }
        }
        return result
    }
}
